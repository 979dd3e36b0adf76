/** Prints a comparison: differences by entry, each as old → new with both places, and kept requests whose result differs. */
import type { Paint } from '../../../../base/paint.ts';
import { visible } from '../../../../cli/output/print.ts';
import type { Place } from '../../../../schemas/generated/types.ts';
import { addressText, outcomeText, textDiff } from '../texts.ts';
import type { ConfigChange } from './compare-tables.ts';
import type { Replayed, RequestChange, RequestsReport, Unjudged } from './replay-requests.ts';

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

/** How many are shown; `--json` has them all. */
const SHOWN = 20;

const MARKS = { lost: ['red', '✗'], gained: ['green', '✓'], changed: ['yellow', '~'] } as const;

export function formatRequests(report: RequestsReport, paint: Paint): string[] {
  const { changes, scripts } = report;
  const more = changes.length - SHOWN;
  return [
    paint('bold', `${report.total} kept ${report.total === 1 ? 'request' : 'requests'}: `) + summary(report),
    ...(scripts === 0 ? [] : [`  ${scripts} judged without their script, which is not run`]),
    ...changes.slice(0, SHOWN).flatMap((change) => formatChange(change, paint)),
    ...(more > 0 ? [`… and ${more} more: --json shows them`] : []),
  ];
}

const UNJUDGED: Readonly<Record<Unjudged, string>> = {
  no_body: 'without a body that was kept',
  unsigned: 'without the signature that is asked for now',
  unknown_route: 'of routes that no table has',
  duplicate: 'of an event that came before',
};

function summary({ same, lost, gained, changed, unjudged }: RequestsReport): string {
  const counts = [[lost, 'lost'] as const, [gained, 'gained'] as const, [changed, 'changed'] as const];
  const found = counts.filter(([count]) => count > 0).map(([count, name]) => `${count} ${name}`);
  const open = (Object.keys(UNJUDGED) as Unjudged[])
    .filter((why) => unjudged[why] > 0)
    .map((why) => `${unjudged[why]} not judged, ${UNJUDGED[why]}`);
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
