/** The rule about sessions that routes share. */
import { DEFAULT_PROFILE } from '../../../../base/names.ts';
import { sessionOf } from '../../../../compiler/config/route-keys.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';

/** A route whose events end runs that another route would keep. */
export const sessionNewer = rule('session-newer', {
  config({ settings }, report) {
    const first = new Map<string, string>();
    for (const { config, path } of settings.routes) {
      const { scope, on_newer = 'queue' } = sessionOf(config) ?? {};
      if (scope === undefined) continue;
      const key = JSON.stringify([config.profile ?? DEFAULT_PROFILE, scope]);
      const other = first.get(key) ?? on_newer;
      first.set(key, other);
      const message = `another route shares the sessions of \`${scope}\` and has \`on_newer: ${other}\``;
      const place = config.session === undefined ? 'session_scope' : 'session';
      if (other !== on_newer) report({ path: [...path, place], at: 'key', message, hint: 'use the same `on_newer`' });
    }
  },
});
