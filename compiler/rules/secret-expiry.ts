/** An invalid expiry of a secret. */
import { rule } from './support/rule.ts';

export const secretExpiry = rule('secret-expiry', {
  route(route, report) {
    for (const [index, secret] of (route.config.secrets ?? []).entries()) {
      const expires = typeof secret === 'string' ? undefined : secret.expires_at;
      if (expires === undefined || isInstant(expires)) continue;
      const message = `\`${expires}\` is not a valid date and time`;
      report({ path: ['secrets', index, 'expires_at'], at: 'value', message });
    }
  },
});

/** The schema has checked the form, but the parser would accept 31 February as a day in March. */
function isInstant(text: string): boolean {
  const ms = Date.parse(text);
  return Number.isFinite(ms) && new Date(ms).toISOString().slice(0, 19) === text.slice(0, 19);
}
