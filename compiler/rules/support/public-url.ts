/** Checks that `public_url` is a URL that senders could call. */
import type { Problem } from '../../diagnostics/problem.ts';
import type { RuleId } from '../../diagnostics/rule.ts';

/** A public host name, optionally with port and path. */
const HOST = /^(?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d{1,5})?(?:\/[\w./-]*)?)$/i;
const LOCAL = /^(?:\/\/)?((?:localhost|127\.0\.0\.1)(?::\d{1,5})?(?:\/[\w./-]*)?)$/i;

/** @param text the value in the route or the config */
export function publicUrlProblems(rule: RuleId, text: string | undefined): readonly Problem[] {
  if (text === undefined || (/^https?:\/\/[^/]/i.test(text) && URL.canParse(text))) return [];
  const host = HOST.exec(text)?.[1];
  const local = LOCAL.exec(text)?.[1];
  const meant = host !== undefined ? `https://${host}` : local !== undefined ? `http://${local}` : undefined;
  const problem = { rule, path: ['public_url'], at: 'value' } as const;
  if (meant !== undefined) {
    const message = `\`public_url\` begins with \`https://\` or \`http://\`: write \`${meant}\``;
    return [{ ...problem, message, fix: { kind: 'rename', text: meant } }];
  }
  const hint = 'write the URL itself, such as `https://hooks.example.com`: no variable is looked up here';
  return [{ ...problem, message: '`public_url` is not a URL that senders can call', hint }];
}
