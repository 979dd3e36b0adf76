/** `hookwright source shape`: what the payloads of a sender hold, event by event. */
import type { CliContext } from '../../../../../cli/base/context.ts';
import type { GivenBy } from '../../../../../cli/command-line/command.ts';
import { argument, command, optionalArgument, text } from '../../../../../cli/command-line/command.ts';
import { configOption, jsonOption } from '../../../../../cli/command-line/options.ts';
import { printJson, printLine, printNote } from '../../../../../cli/output/print.ts';
import { formatTable } from '../../../../../cli/output/table.ts';
import type { FormSet } from '../../../compiler/shapes/form-set.ts';
import { depthThatFits, listPaths, MAX_PATHS } from '../../../compiler/shapes/list-paths.ts';
import type { PathFacts } from '../../describe-path.ts';
import { classWords, pathFacts, pathNotes, typeWords } from '../../describe-path.ts';
import type { OpenShape } from '../../open-shape.ts';
import { openShape } from '../../open-shape.ts';

const options = { prefix: text('prefix', 'Only paths that begin with this'), json: jsonOption, config: configOption };

type Given = GivenBy<typeof options>;

export default command({
  summary: 'Show what the payloads of a sender hold: events, paths, types, values',
  details:
    'Without an event it lists the events that are known. Templates and filters name these paths; `lint` reports one that no event of a route has.',
  examples: [
    ['The events of a sender', '$0 source shape github'],
    ['The paths of one event', '$0 source shape github pull_request --prefix pull_request.user'],
    ['For other programs', '$0 source shape stripe invoice.paid --json'],
  ],
  options,
  args: { source: argument('source'), event: optionalArgument('event') },
  async run(context, given) {
    const shape = await openShape(context, given.source, given.config);
    const { all } = shape;
    const events = [...new Set(all.forms.map((form) => form.event))];
    // A sender whose events have no names has a single list of paths.
    const event = given.event ?? (events.length === 1 ? events[0] : given.prefix === undefined ? undefined : '');
    if (event === undefined) printEvents(context, given, shape, events);
    else printPaths(context, given, event === '' ? all : shape.ofEvent(event));
  },
});

function printEvents(context: CliContext, given: Given, { all, ofEvent }: OpenShape, names: readonly string[]): void {
  const events = names.map((event) => {
    const forms = ofEvent(event);
    return { event, actions: forms.forms.flatMap(({ action }) => action ?? []), paths: listPaths(forms).length };
  });
  const { source, quality, from } = all.shape;
  if (given.json) {
    printJson(context, { source, quality, from, events });
    return;
  }
  const columns = [
    { title: 'EVENT', value: (row: (typeof events)[number]) => row.event, whole: true as const },
    { title: 'PATHS', value: (row: (typeof events)[number]) => row.paths, align: 'right' as const },
    { title: 'ACTIONS', value: (row: (typeof events)[number]) => row.actions.join(', ') },
  ];
  for (const line of formatTable(events, columns, context.stdout.columns)) printLine(context, line);
  const packages = from.map((origin) => `${origin.package} ${origin.version} (${origin.licence})`).join(', ');
  printNote(context, `${QUALITY[quality]}${packages === '' ? '' : `; from ${packages}`}`);
}

function printPaths(context: CliContext, given: Given, set: FormSet): void {
  const listed = listPaths(set, { prefix: given.prefix ?? '' });
  const rows = listed.map((each) => pathFacts(set, each));
  noteDepth(context, given, set);
  if (given.json) {
    printJson(context, rows);
    return;
  }
  const columns = [
    { title: 'PATH', value: (facts: PathFacts) => facts.path, whole: true as const },
    { title: 'TYPE', value: typeWords },
    { title: 'CLASS', value: classWords },
    { title: '', value: pathNotes },
  ];
  if (rows.length === 0) printNote(context, `no path begins with ${given.prefix ?? ''}`);
  else for (const line of formatTable(rows, columns, context.stdout.columns)) printLine(context, line);
}

function noteDepth(context: CliContext, given: Given, set: FormSet): void {
  const depth = depthThatFits(set, given.prefix);
  if (depth === null) return;
  const parts = depth === 1 ? 'one part' : `${depth} parts`;
  const below = given.prefix === undefined ? '' : ' below the prefix';
  const why = `there are more than ${MAX_PATHS.toLocaleString('en')}`;
  printNote(context, `paths of up to ${parts}${below}: ${why}; --prefix <path> shows deeper ones`);
}

const QUALITY = {
  exact: 'exact: the types the sender publishes for each event',
  good: 'good: all that is known, in places inferred',
  partial: 'partial: further events or fields are not known, and routes are checked for these events only',
} as const;
