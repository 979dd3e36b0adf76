/** A scope of sessions without a key. */
import { rule } from './support/rule.ts';

export const sessionScope = rule('session-scope', {
  route({ config: { session_key: key, session_scope: scope } }, report) {
    if (scope === undefined || key !== undefined) return;
    const hint = 'name what identifies a session: `session_key: "{repository.full_name}#{number}"`';
    report({ path: ['session_scope'], at: 'key', message: '`session_scope` needs `session_key`', hint });
  },
});
