/** `hookwright source show`: how one sender signs and sends, and what to do to connect it. */
import { createPaint } from '../../../base/paint.ts';
import {
  describeDelivery,
  describeEvent,
  describeHandshake,
  describeSecret,
  describeSending,
  describeSignature,
  describeWindow,
  routeSnippet,
  setupSteps,
} from '../../../compiler/sources/describe-source.ts';
import { commonName } from '../../../compiler/text/common-name.ts';
import type { CliContext } from '../../base/context.ts';
import { argument, command, flag } from '../../command-line/command.ts';
import { configOption } from '../../command-line/options.ts';
import { printJson, printLine, visible, wrapBeside } from '../../output/print.ts';
import type { OpenSource } from '../../sources/open-sources.ts';
import { openSources } from '../../sources/open-sources.ts';

export default command({
  summary: 'Show how a sender signs and sends, and the steps to connect it',
  examples: [
    ['A sender by name or alias', '$0 source show github'],
    ['As the catalog has it', '$0 source show stripe --json'],
  ],
  options: { json: flag('Print the catalog entry as JSON'), config: configOption },
  args: { name: argument('source') },
  async run(context, given) {
    const source = (await openSources(context, given.config)).find(given.name);
    if (given.json) printJson(context, { name: source.name, ...source.file });
    else for (const line of describe(context, source)) printLine(context, line);
  },
});

function describe(context: CliContext, { name, file, plan }: OpenSource): string[] {
  const paint = createPaint(context.colour.stdout);
  const known = commonName(name, file);
  const others = [name, ...(file.aliases ?? [])].filter((other) => other !== known);
  const aliases = others.length === 0 ? '' : `, also called ${others.join(', ')}`;
  const rows: readonly (readonly [string, string | null])[] = [
    ['Signature', describeSignature(file)],
    ['Secret', describeSecret(file)],
    ['Window', describeWindow(file)],
    ['Event', describeEvent(file) || null],
    ['Delivery', describeDelivery(file)],
    ['Handshake', describeHandshake(plan) || null],
    ['Sending', describeSending(file).join(', ') || null],
    ['Evidence', file.evidence ?? null],
    ['Docs', file.docs ?? null],
  ];
  const width = context.stdout.columns ?? USUAL_WIDTH;
  const indent = Math.max(...rows.map(([title]) => title.length)) + 2;
  const shown = rows.flatMap(([title, text]) =>
    text === null ? [] : wrapBeside(`${title}:`.padEnd(indent), visible(text), width),
  );
  const list = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint('bold', title), ...lines];
  return [
    `${paint('bold', visible(file.title ?? name))} (${known}${aliases})`,
    ...shown,
    ...list(
      'At the sender',
      setupSteps(file).flatMap((step, index) => wrapBeside(`  ${index + 1}. `, visible(step), width)),
    ),
    // For copying, so it is printed unchanged.
    ...list(
      'In hookwright.yaml',
      routeSnippet(known, file, plan)
        .split('\n')
        .map((line) => `  ${visible(line)}`),
    ),
    ...list(
      'Notes',
      (file.notes ?? []).flatMap((note) => wrapBeside('  ', visible(note), width)),
    ),
    ...list('Events', file.events === undefined ? [] : wrapBeside('  ', visible(file.events.join(', ')), width)),
  ];
}

/** Columns where no terminal says how many it has. */
const USUAL_WIDTH = 80;
