/** `hookwright diff`: prints how two configurations differ in meaning. */

import { existsSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isSystemError } from '../../../base/errors.ts';
import type { Paint } from '../../../base/paint.ts';
import { createPaint } from '../../../base/paint.ts';
import { realTarget } from '../../../base/spec-names.ts';
import type { CliContext } from '../../../cli/base/context.ts';
import { CliError, UsageError } from '../../../cli/base/errors.ts';
import type { ValuesOf } from '../../../cli/command-line/command.ts';
import { command, flag, list, optionalArgument, parsed } from '../../../cli/command-line/command.ts';
import { failOnOption } from '../../../cli/command-line/options.ts';
import { parseInteger } from '../../../cli/command-line/values.ts';
import { callGateway } from '../../../cli/gateway/ask-gateway.ts';
import { printJson, printLine, printNote, visible } from '../../../cli/output/print.ts';
import { formatDuration } from '../../../cli/output/table.ts';
import { useStore } from '../../../cli/store/use-store.ts';
import { bindingOf } from '../../../runtime/deliver/link-targets.ts';
import { nominalWait } from '../../../runtime/dispatch/retry-waits.ts';
import type { OpenWork } from '../../../runtime/store/queries.ts';
import { loadTable, TableError } from '../../../runtime/table/table-source.ts';
import type { Place, RouteTable } from '../../../schemas/generated/types.ts';
import type { ConfigChange } from './diff/compare-tables.ts';
import { compareTables } from './diff/compare-tables.ts';
import type { Replayed, RequestChange, RequestsReport, Unjudged } from './diff/replay-requests.ts';
import { hasNamedChange, replayCaptured } from './diff/replay-requests.ts';
import { addressText, outcomeText, textDiff } from './explain/format-explanation.ts';
import { openConfig } from './explain/machine-services.ts';

/** Number of captured requests that --fail-on compares if --requests is not given. */
const REQUESTS = 1000;

const options = {
  config: list('path|glob', 'The new configuration (default: the usual search); repeatable'),
  requests: parsed(
    'count',
    `Also compare the results of this many captured requests, newest first (default with --fail-on: ${REQUESTS})`,
    (text, option) => parseInteger(text, option, { min: 1, max: 1_000_000 }),
  ),
  failOn: failOnOption('Exit 1 only if captured requests are lost or treated differently'),
  json: flag('Print the changes as JSON'),
};
const args = { old: optionalArgument('old'), new: optionalArgument('new') };

type Input = ValuesOf<typeof options> & ValuesOf<typeof args>;

export const diffCommand = command({
  options,
  args,
  async run(context, given) {
    try {
      return await compare(context, given);
    } catch (error) {
      if (error instanceof CliError && !(error instanceof UsageError))
        throw new TroubleError(error.message, ...error.hints);
      throw isSystemError(error) ? new TroubleError(error.message) : error;
    }
  },
});

/** An error with the exit codes of diff(1): 1 means `different`, so errors exit with 2. */
class TroubleError extends CliError {
  override readonly name = 'TroubleError';
  override readonly exitCode = 2;
}

async function compare(context: CliContext, given: Input): Promise<number> {
  const { failOn } = given;
  const before = given.old === undefined ? await openServed(context) : await openSide(context, given.old);
  const now = given.new === undefined ? await openHere(context, given.config) : await openSide(context, given.new);
  // A running gateway keeps the address it was started with.
  const table = given.old === undefined ? withAddressOf(before.table, now.table) : now.table;
  const changes = compareTables(before.table, table);
  const stranded = given.old === undefined ? await findStrandedWork(context, table) : [];
  const count = given.requests ?? (failOn === undefined ? null : REQUESTS);
  const requests = count === null ? null : await replayCaptured(context, { old: before.table, new: table, count });
  if (given.json) printJson(context, { changes, open_work: stranded, requests });
  else {
    const paint = createPaint(context.colour.stdout);
    for (const line of formatChanges(changes, paint)) printLine(context, line);
    for (const line of formatStrandedWork(stranded, table)) printLine(context, line);
    if (requests !== null) for (const line of formatRequests(requests, paint)) printLine(context, line);
  }
  if (changes.length === 0) printNote(context, `${before.name} and ${now.name} have the same meaning`);
  if (requests !== null && failOn !== undefined) return hasNamedChange(requests, failOn) ? 1 : 0;
  return changes.length === 0 && (requests === null || !hasNamedChange(requests, ['changed'])) ? 0 : 1;
}

/** @throws CliError if the file is not a route table */
export async function readTable(path: string): Promise<RouteTable> {
  try {
    const table = await loadTable(await readFile(path), '');
    if (table === 'same') throw new TableError('the table has no hash');
    return table;
  } catch (error) {
    if (error instanceof TableError) throw new CliError(`${path}: ${error.message}`);
    throw error;
  }
}

function withAddressOf({ server: { host, port } }: RouteTable, table: RouteTable): RouteTable {
  return { ...table, server: { ...table.server, host, port } };
}

/** Prints a comparison: differences by entry, as old → new with both places, and captured requests whose result differs. */
export function formatChanges(changes: readonly ConfigChange[], paint: Paint): string[] {
  const lines: string[] = [];
  let last = '';
  for (const change of changes) {
    const entry = `${change.subject} ${change.name}`.trim();
    if (entry !== last) lines.push(...(last === '' ? [] : ['']), paint('bold', visible(entry)) + places(change, paint));
    last = entry;
    lines.push(`  ${visible(change.sentence)}`, ...texts(change, paint));
  }
  return lines;
}

function places({ old_at, new_at }: ConfigChange, paint: Paint): string {
  const both = [old_at, new_at].filter((at): at is Place => at !== null).map(({ file, line }) => `${file}:${line}`);
  return both.length === 0 ? '' : ` ${paint('dim', `(${[...new Set(both)].map(visible).join(' → ')})`)}`;
}

function texts({ old, new: now }: ConfigChange, paint: Paint): string[] {
  if (old === null || now === null || !`${old}${now}`.includes('\n')) return [];
  return textDiff(old, now, paint).map((line) => `    ${line}`);
}

/** Maximum number of requests that are shown; `--json` has them all. */
const SHOWN = 20;

const MARKS = { lost: ['red', '✗'], gained: ['green', '✓'], changed: ['yellow', '~'] } as const;

export function formatRequests(report: RequestsReport, paint: Paint): string[] {
  const { changes, scripts } = report;
  const more = changes.length - SHOWN;
  return [
    paint('bold', `${report.total} captured ${report.total === 1 ? 'request' : 'requests'}: `) + summary(report),
    ...(scripts === 0 ? [] : [`  ${scripts} evaluated without their script, which is not run`]),
    ...changes.slice(0, SHOWN).flatMap((change) => formatChange(change, paint)),
    ...(more > 0 ? [`… and ${more} more: --json shows all`] : []),
  ];
}

const UNJUDGED: Readonly<Record<Unjudged, string>> = {
  no_body: 'no captured body',
  unsigned: 'no signature, which the new configuration requires',
  unknown_route: 'route in neither configuration',
  duplicate: 'repeats an earlier event',
};

function summary({ same, lost, gained, changed, unjudged }: RequestsReport): string {
  const counts = [[lost, 'lost'] as const, [gained, 'gained'] as const, [changed, 'changed'] as const];
  const found = counts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`);
  const open = (Object.keys(UNJUDGED) as Unjudged[])
    .filter((why) => unjudged[why] > 0)
    .map((why) => `${unjudged[why]} not evaluated (${UNJUDGED[why]})`);
  return [...found, `${same} the same`, ...open].join(', ');
}

function formatChange(change: RequestChange, paint: Paint): string[] {
  const { id, at, route, event, kind, old, new: now } = change;
  const [style, mark] = MARKS[kind];
  const what = [route, event]
    .filter((text) => text !== '')
    .map(visible)
    .join(' ');
  const head = `${paint(style, mark)} ${paint('bold', id)} ${what} ${paint('dim', new Date(at).toISOString())}`;
  return [head, ...differences(old, now, paint).map((line) => `    ${line}`)];
}

function differences(old: Replayed, now: Replayed, paint: Paint): string[] {
  const answer = answerText(old) === answerText(now) ? [] : [outcomeChange(old, now)];
  // A request that is not accepted has neither.
  if (old.taken !== now.taken) return answer;
  const lines = textDiff(old.prompt ?? '', now.prompt ?? '', paint).map((line) => `  ${line}`);
  const prompt = old.prompt === now.prompt ? [] : ['prompt', ...lines];
  const [before, after] = [placesText(old), placesText(now)];
  return [...answer, ...(before === after ? [] : [visible(`delivers ${before} → ${after}`)]), ...prompt];
}

/** `202 accepted → 200 ignored: filter`. */
export const outcomeChange = (old: Replayed, now: Replayed): string => `${answerText(old)} → ${answerText(now)}`;

const answerText = (replayed: Replayed): string => `${replayed.status} ${outcomeText(replayed)}`;

const placesText = ({ deliveries }: Replayed): string =>
  deliveries.map(({ target, address }) => `${target} ${addressText(address)}`.trim()).join(', ') || 'nowhere';

interface Side {
  readonly table: RouteTable;
  /** Its description, for headlines. */
  readonly name: string;
}

/** Opens a YAML config, a routes.json, or a folder that contains one of them. @throws CliError */
export async function openSide(context: CliContext, name: string): Promise<Side> {
  const path = resolve(context.cwd, name);
  if (!existsSync(path)) throw new CliError(`there is no file ${name}`);
  const file = statSync(path).isDirectory() ? inFolder(path) : path;
  if (file.endsWith('.json')) return { table: await readTable(file), name };
  return { table: (await openConfig(context, [file])).table, name };
}

/** Opens the table of the running gateway. @throws CliError when none is running */
export async function openServed(context: CliContext): Promise<Side> {
  const { table, url } = await callGateway(context, 'status', {});
  return { table: await readTable(table.file), name: `the gateway at ${url}` };
}

/** @throws CliError when there is no configuration, or it has errors */
export async function openHere(context: CliContext, configs: readonly string[] | undefined): Promise<Side> {
  const { table } = await openConfig(context, configs);
  return { table, name: 'the configuration' };
}

function inFolder(folder: string): string {
  const found = ['routes.json', 'build/routes.json', 'hookwright.yaml', 'config.yaml']
    .map((name) => join(folder, name))
    .find((path) => existsSync(path));
  if (found === undefined) throw new CliError(`${folder} contains neither a route table nor a configuration`);
  return found;
}

/** Pending work of the running gateway whose profile or target is missing in a new table: a reload would postpone it. */
export interface StrandedWork {
  readonly profile: string;
  /** Canonical name; null: the new table lacks the whole profile. */
  readonly target: string | null;
  /** Number of waiting and running runs and deliveries. */
  readonly count: number;
  /** The same number by origin. */
  readonly of: readonly Pick<OpenWork, 'route' | 'job' | 'count'>[];
}

/** @throws CliError when the store cannot be read */
export async function findStrandedWork(context: CliContext, table: RouteTable): Promise<readonly StrandedWork[]> {
  const open = await useStore(context, (store) => store.read({ kind: 'open_work' }));
  return strandedWork(open ?? [], table);
}

function strandedWork(open: readonly OpenWork[], table: RouteTable): readonly StrandedWork[] {
  const found = new Map<string, StrandedWork>();
  for (const { profile, target, route, job, count } of open) {
    const missing = missingPart(table, profile, target);
    if (missing === null) continue;
    const name = JSON.stringify([profile, missing.target]);
    const { count: before, of } = found.get(name) ?? { count: 0, of: [] };
    found.set(name, { profile, ...missing, count: before + count, of: [...of, { route, job, count }] });
  }
  return [...found.values()];
}

/** What the table lacks for this work; null: nothing. */
function missingPart(
  { profiles, targets }: RouteTable,
  profile: string,
  target: string | null,
): Pick<StrandedWork, 'target'> | null {
  const plan = Object.hasOwn(profiles, profile) ? profiles[profile] : undefined;
  if (plan === undefined) return { target: null };
  if (target === null) return null;
  const name = Object.hasOwn(targets, target) ? target : realTarget(target);
  const known = Object.hasOwn(targets, name) ? targets[name] : undefined;
  return known !== undefined && bindingOf(plan, known) !== null ? null : { target: name };
}

export function formatStrandedWork(stranded: readonly StrandedWork[], { gateway }: RouteTable): string[] {
  const waits = Array.from({ length: gateway.max_attempts - 1 }, (_, attempt) => nominalWait(attempt + 1));
  const grace = formatDuration(waits.reduce((sum, wait) => sum + wait, 0));
  return stranded.map(({ profile, target, count, of }) => {
    const what = target === null ? `profile ${profile}` : `target ${target} of profile ${profile}`;
    const sources = of.map(
      (each) => `${each.count} of ${each.job === null ? 'route' : 'job'} ${each.job ?? each.route}`,
    );
    const needs = count === 1 ? 'run or delivery needs' : 'runs and deliveries need';
    return visible(
      `${count} pending ${needs} ${what} (${sources.join(', ')}): retried for ${grace}, then failed permanently (dead)`,
    );
  });
}
