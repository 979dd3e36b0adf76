/** An invalid expiry of a secret. */
import type { Problem } from '../diagnostics/problem.ts';
import type { ViewRule } from './support/view-rule.ts';

export const secretExpiry = {
  id: 'secret-expiry',
  checkRoute(route): readonly Problem[] {
    return (route.config.secrets ?? []).flatMap((secret, index): readonly Problem[] => {
      const expires = typeof secret === 'string' ? undefined : secret.expires_at;
      if (expires === undefined || isInstant(expires)) return [];
      const message = `\`${expires}\` is not a valid date and time`;
      return [{ rule: 'secret-expiry', path: ['secrets', index, 'expires_at'], at: 'value', message }];
    });
  },
} as const satisfies ViewRule;

/** The schema has checked the form, but the parser would accept 31 February as a day in March. */
function isInstant(text: string): boolean {
  const ms = Date.parse(text);
  return Number.isFinite(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19);
}
