/** Rules about prompts. */
import { readTokens } from '../../../../compiler/config/grammar.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { Reporter } from '../../../../compiler/views/views.ts';

/** Prompts that are read as plain text, although other tools would read a file or fill in values. */
export const literalPrompt = rule('literal-prompt', {
  route: ({ config: { prompt } }, report) => reportFile(prompt, report),
  job({ config: { prompt } }, report) {
    reportFile(prompt, report);
    const [first] = readTokens(prompt);
    if (first === undefined) return;
    const { offset, length } = first;
    const message = `a job has no payload: its agent gets ${prompt.slice(offset, offset + length)} unchanged`;
    const hint = 'let a route fire the job (`cron_job`), and put the placeholders into the prompt of the route';
    report({ path: ['prompt'], at: 'value', within: { offset, length }, message, hint });
  },
});

/** `file:x`, `env:X`, `@x`, `$(cat x)` and a path, as other tools name the file of a prompt. */
const FILE =
  /^(?:file:(?:\/\/)?\S+|env:[A-Z_][A-Z0-9_]*|@(?:\.{0,2}\/)?[\w./-]*[\w-]|\$\(cat [^)]+\)|!include \S+|(?:\.{1,2}|~)?(?:\/?[\w.-]+\/)*[\w.-]+\.(?:md|txt|j2|jinja2?|tmpl|prompt))$/;

function reportFile(prompt: string | undefined, report: Reporter): void {
  if (prompt === undefined || !FILE.test(prompt.trim())) return;
  const message = `the prompt is this text, not the content of a file or a variable`;
  const hint = 'write the text after `prompt: |`, or let the agent read the file: `Follow the instructions in …`';
  report({ path: ['prompt'], at: 'value', message, hint });
}
