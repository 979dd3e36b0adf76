/** `hookwright source show`: how one sender signs and sends, and what to do to connect it. */
import { createPaint } from '../../../../../base/paint.ts';
import type { CliContext } from '../../../../../cli/base/context.ts';
import { argument, command, flag } from '../../../../../cli/command-line/command.ts';
import { configOption } from '../../../../../cli/command-line/options.ts';
import { printJson, printLine, visible, wrapBeside } from '../../../../../cli/output/print.ts';
import type { OpenSource } from '../../../../../cli/sources/open-sources.ts';
import { openSources } from '../../../../../cli/sources/open-sources.ts';
import { routePath } from '../../../../../cli/subscriptions/address.ts';
import { tryOpenTable } from '../../../../../cli/subscriptions/open-table.ts';
import { describeSecret, describeWindow, setupSteps } from '../../../../../compiler/sources/describe-source.ts';
import { commonName } from '../../../../../compiler/text/common-name.ts';
import {
  describeCredentials,
  describeDelivery,
  describeEvent,
  describeHandshake,
  describeSending,
  describeSignature,
  exampleRoute,
  routeSnippet,
} from '../../../compiler/describe-source.ts';

export default command({
  summary: 'Show how a sender signs and sends, and the steps to connect it',
  examples: [
    ['A sender by name or alias', '$0 source show github'],
    ['With every event that it sends', '$0 source show github --events'],
    ['As the catalog has it', '$0 source show stripe --json'],
  ],
  options: {
    events: flag('List the events that it sends'),
    json: flag('Print the catalog entry as JSON'),
    config: configOption,
  },
  args: { name: argument('source') },
  async run(context, given) {
    const source = (await openSources(context, given.config)).find(given.name);
    if (given.json) printJson(context, { name: source.name, ...source.file });
    else {
      const url = await urlFor(context, source, given.config);
      for (const line of describe(context, source, { url, events: given.events })) printLine(context, line);
    }
  },
});

/** Of the first route with this source; of the route in the example, where there is none. */
async function urlFor(
  context: CliContext,
  { name, file }: OpenSource,
  config: readonly string[] | undefined,
): Promise<string> {
  const open = await tryOpenTable(context, config).catch(() => null);
  const table = open?.table ?? null;
  const own = Object.values(table?.routes ?? {}).find(({ source }) => source === name);
  const base = table?.server.public_url ?? 'https://<your host>';
  return (
    base.replace(/\/+$/, '') + routePath(own ?? { name: exampleRoute(commonName(name, file)), profile: 'default' })
  );
}

function describe(
  context: CliContext,
  { name, file, plan }: OpenSource,
  { url, events }: { readonly url: string; readonly events: boolean },
): string[] {
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
    ['Events', file.events === undefined || events ? null : `${file.events.length}; --events lists them`],
    ['Not kept', describeCredentials(file) || null],
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
      'Events',
      file.events === undefined || !events ? [] : wrapBeside('  ', visible(file.events.join(', ')), width),
    ),
    ...list(
      'Notes',
      (file.notes ?? []).flatMap((note) => wrapBeside('  ', visible(note), width)),
    ),
    // For copying, so it is printed unchanged.
    ...list(
      'In hookwright.yaml',
      routeSnippet(known, file, plan)
        .split('\n')
        .map((line) => `  ${visible(line)}`),
    ),
    ...list(
      'At the sender',
      setupSteps(file).flatMap((step, index) =>
        wrapBeside(`  ${index + 1}. `, visible(step.replaceAll('{url}', url)), width),
      ),
    ),
  ];
}

/** Columns where no terminal says how many it has. */
const USUAL_WIDTH = 80;
