/**
 * The cost of `untrusted: mark`: a prompt with marked values beside the same prompt verbatim, for the 21 KB event
 * unchanged, and for one whose description makes the prompt 21 KB long. Measures the rendering alone, and with the
 * other steps for an event in the same thread: the signature, parsing, and the JSON that is stored.
 */

import { createHmac } from 'node:crypto';
import { marks } from '../../modules/payloads/runtime/untrusted/markers.ts';
import type { RenderPrompt } from '../../runtime/table/link-template.ts';
import { linkPrompt } from '../../runtime/table/link-template.ts';
import { compileYaml, tempFolder } from '../harness/config.ts';
import type { Pair } from '../harness/pairs.ts';
import { measurePairs } from '../harness/pairs.ts';
import { large, SECRET } from '../harness/payloads.ts';
import { median } from '../harness/stats.ts';
import type { Case } from '../lab.ts';

const GOAL = 1.05;
const BUILTINS = { event_type: 'pull_request', route: 'r', delivery_id: 'd-1' };
const ID = '5d1c0a9e77b2';
const LONG = 21_000;

const FIELDS =
  'Review #{number} of {repository.full_name} by {pull_request.user.login}: {pull_request.title}\n\n{pull_request.body}';

/** Typical text: paragraphs, a list, links, a block of code. */
const PARAGRAPH = `This changes how the parser reads a quoted field: it kept the closing quote when the field was the last of its line.

- see https://example.com/issues/1874 for the report, with a file
- the tests cover both line endings

`;

interface Subject extends Pair {
  readonly name: string;
  readonly length: number;
}

export const renderCase: Case = {
  name: 'render',
  title: 'Rendering a prompt, values verbatim and marked (`untrusted: mark`)',
  header: ['prompt', 'length', 'what', 'verbatim', 'marked', 'ratio', 'goal'],
  async run(lab) {
    const long = withBody(PARAGRAPH.repeat(Math.ceil(LONG / PARAGRAPH.length)).slice(0, LONG));
    const code = withBody(`${'```html\n<p class="x">a &amp; b</p>\n```\n'.repeat(LONG)}`.slice(0, LONG));
    const umlauts = withBody('Größe geändert, naïve Lösung — “done” …\n'.repeat(LONG).slice(0, LONG));
    const subjects = [
      ...subjectsOf('fields of the 21 KB event', FIELDS, large.body),
      ...subjectsOf('the whole event, cut', '{__raw__}', large.body),
      ...subjectsOf('21 KB of prose', FIELDS, long),
      ...subjectsOf('21 KB of HTML', FIELDS, code),
      ...subjectsOf('21 KB beyond ASCII', FIELDS, umlauts),
    ];
    const rounds = await measurePairs(subjects, lab.quick ? 15 : 75, 100);
    return subjects.map(({ name, length }, index) => {
      const measured = rounds[index] ?? [];
      const us = (values: readonly number[]): string => `${(median(values) / 1000).toFixed(2)} us`;
      return [
        name,
        String(length),
        index % 2 === 0 ? 'rendering' : 'signature to JSON',
        us(measured.map(({ bare }) => bare)),
        us(measured.map(({ ours }) => ours)),
        median(measured.map(({ bare, ours }) => ours / bare)).toFixed(2),
        `<= ${GOAL}`,
      ];
    });
  },
};

function withBody(body: string): string {
  const event = JSON.parse(large.body) as { readonly pull_request: object };
  return JSON.stringify({ ...event, pull_request: { ...event.pull_request, body } });
}

/** The rendering alone, then with the surrounding stages. */
function subjectsOf(name: string, prompt: string, body: string): Subject[] {
  const [verbatim, marked] = [link(prompt, 'verbatim'), link(prompt, 'mark')];
  const event: unknown = JSON.parse(body);
  const bytes = Buffer.from(body);
  const { length } = marked(event, BUILTINS, ID).text;
  const rendered = (render: RenderPrompt) => (): unknown => render(event, BUILTINS, ID).text.length;
  const whole = (render: RenderPrompt) => (): unknown => {
    createHmac('sha256', SECRET).update(bytes).digest();
    const payload: unknown = JSON.parse(bytes.toString());
    return JSON.stringify({ prompt: render(payload, BUILTINS, ID).text }).length;
  };
  return [
    { name, length, bare: rendered(verbatim), ours: rendered(marked) },
    { name, length, bare: whole(verbatim), ours: whole(marked) },
  ];
}

function link(prompt: string, untrusted: 'mark' | 'verbatim'): RenderPrompt {
  const yaml = `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      r:
        source: github
        events: [pull_request]
        untrusted: ${untrusted}
        prompt: ${JSON.stringify(prompt)}
`;
  const plan = compileYaml(tempFolder(), yaml).table.routes.r;
  if (plan === undefined) throw new Error('the bench has no route');
  return linkPrompt(plan.prompt, marks);
}
