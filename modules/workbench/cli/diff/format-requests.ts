/** Prints kept requests whose result differs. */
import type { Paint } from '../../../../base/paint.ts';
import { formatDiff } from '../../../../cli/output/diff.ts';
import { visible } from '../../../../cli/output/print.ts';
import type { Replayed, RequestChange, RequestsReport, Unjudged } from './request-change.ts';

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
  const prompt = old.prompt === now.prompt ? [] : ['prompt', ...promptDiff(old.prompt, now.prompt, paint)];
  const [before, after] = [addressText(old), addressText(now)];
  return [...answer, ...(before === after ? [] : [visible(`delivers ${before} → ${after}`)]), ...prompt];
}

/** `202 accepted → 200 ignored: filter`. */
export const outcomeChange = (old: Replayed, now: Replayed): string => `${answerText(old)} → ${answerText(now)}`;

const answerText = ({ status, outcome, reason }: Replayed): string =>
  `${status} ${outcome}${reason === null || reason === outcome ? '' : `: ${reason}`}`;

const addressText = ({ deliveries }: Replayed): string =>
  deliveries
    .map(({ target, address }) =>
      [target, ...Object.entries(address).map(([key, value]) => `${key}=${value}`)].join(' '),
    )
    .join(', ') || 'nowhere';

function promptDiff(old: string | null, now: string | null, paint: Paint): string[] {
  const clean = (text: string | null): string => (text ?? '').split('\n').map(visible).join('\n');
  return formatDiff(clean(old), clean(now), paint).map((line) => `  ${line}`);
}
