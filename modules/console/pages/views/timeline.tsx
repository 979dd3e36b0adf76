/** The timeline of an event: received, verified, filtered, accepted, waiting, run, outputs, deliveries, done. */
import type { ComponentChildren } from 'preact';
import type { Output } from '../api.ts';
import { bytes, duration, instant, people, upper } from '../parts/format.ts';
import type { IconName, Kind } from '../parts/icons.tsx';
import { Icon } from '../parts/icons.tsx';
import { to } from '../parts/router.ts';
import { Card, Jump, lookOf } from '../parts/ui.tsx';
import { WAITS_FOR } from './deliveries.tsx';
import type { CapturedRequest, Explanation } from './explanation.tsx';

export type Stored = Output<'getDelivery'>;

type Look = readonly [Kind, IconName];
/** @param at Unix ms */
type Step = readonly [at: number, look: Look, text: ComponentChildren, about?: ComponentChildren];

const step = (...of: Step): Step => of;

export type Both = { request: CapturedRequest | null; delivery: Stored | null; explained: Explanation | null };

/** Each step with the time since the first one, because many happen in the same second. */
export function Timeline({ request, delivery, explained }: Both) {
  const steps = [
    ...(request === null ? [] : requestSteps(request, explained, delivery !== null)),
    ...(delivery === null ? [] : deliverySteps(delivery, request)),
  ];
  const [[begin] = [0]] = steps;
  return (
    <Card title="Timeline" aside={<span class="dim small">{instant(begin, 'second')}</span>}>
      <ol class="timeline">
        {steps.map(([at, [kind, icon], text, about], index) => (
          <li key={index}>
            <span class={kind}>
              <Icon of={icon} />
            </span>
            <span>
              {text} <span class="dim">{about}</span>
            </span>
            <time class="dim small" dateTime={new Date(at).toISOString()} title={instant(at, 'second')}>
              {at > (steps[index - 1]?.[0] ?? at) && `+${since(at - begin)}`}
            </time>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** `3 ms`, `12.4 s`, `2 min 5 s`. */
const since = (ms: number): string =>
  ms >= 1000 && ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s` : duration(ms);

/** Rounded to minutes: `40 s`, `6 min`. */
const soFar = (from: number): string => {
  const ms = Date.now() - from;
  return duration(ms - (ms % (ms < 60_000 ? 1000 : 60_000)));
};

/** @param isStored the steps of the delivery follow, of which the first is the acceptance */
function requestSteps(request: CapturedRequest, explained: Explanation | null, isStored: boolean): readonly Step[] {
  const { at, method, path, body_bytes, verified, scheme, outcome, reason, status } = request;
  const size = body_bytes === null ? '' : `, ${bytes(body_bytes)}`;
  const isSigned = scheme !== 'none' && scheme !== null;
  const check = (look: Look, text: string, about: ComponentChildren = ''): Step =>
    step(at, look, <Jump to="checks">{text}</Jump>, about);
  return [
    step(at, ['calm', 'requests'], <Jump to="payload">Received</Jump>, `${method} ${path}${size}`),
    ...(verified && isSigned ? [check(['good', 'shield'], 'Signature verified', scheme)] : []),
    ...(verified && !isSigned ? [check(['calm', 'shield'], 'Signature not checked')] : []),
    ...(explained?.filter?.holds && reason !== 'filter' ? [check(['good', 'funnel'], 'Filters passed')] : []),
    ...(isStored ? [] : [check(lookOf(outcome), `Responded ${status}`, outcome.replaceAll('_', ' '))]),
  ];
}

function deliverySteps(delivery: Stored, request: CapturedRequest | null): readonly Step[] {
  const { timeline, accepted_at, outputs, waits_for, waits_since, state, route, configured } = delivery;
  const began = timeline.findLast(({ what }) => what === 'run started')?.at ?? accepted_at;
  const firstRun = timeline.find(({ what }) => what === 'run started')?.at ?? accepted_at;
  const steps = timeline.flatMap((moment): readonly Step[] => {
    const { at, what } = moment;
    const own = momentStep(moment, delivery, request);
    if (what.startsWith('accepted') && firstRun - accepted_at >= 1000)
      return [own, step(at, ['calm', 'clock'], `Waited ${duration(firstRun - accepted_at)} to run`)];
    if (!what.startsWith('answered') || outputs.length === 0) return [own];
    const names = outputs.map(({ name }) => name).join(', ');
    return [own, step(at, ['calm', 'check'], <Jump to="outputs">Outputs</Jump>, names)];
  });
  if (waits_for === null && state !== 'running') return steps;
  const from = waits_for === null ? began : (waits_since ?? accepted_at);
  const { timeout_seconds: most } = configured;
  const limit = most === null ? '' : ` of at most ${duration(most * 1000)}`;
  if (waits_for === null) return [...steps, step(from, ['warn', 'loader'], `Running for ${soFar(from)}${limit}`)];
  const own = waits_for === 'pause' ? ['routes', route ?? ''] : [waits_for === 'approval' ? 'approvals' : 'sessions'];
  const text = `Waiting for ${WAITS_FOR[waits_for]}`;
  return [...steps, step(from, ['warn', 'clock'], <a href={to(own)}>{text}</a>, `${soFar(from)} so far`)];
}

/** `287 ms, exit code 0, 1200 tokens in, 80 out`. */
export const runText = ({ attempts, duration_ms, exit_code, signal, usage }: Stored['run']): string =>
  [
    attempts > 1 && `${attempts} attempts`,
    duration_ms !== null && duration(duration_ms),
    exit_code === null ? signal : `exit code ${exit_code}`,
    usage !== null && `${usage.input_tokens ?? 0} tokens in, ${usage.output_tokens ?? 0} out`,
    usage?.cost != null && `cost ${usage.cost}`,
  ]
    .filter(Boolean)
    .join(', ');

function momentStep(moment: Stored['timeline'][number], delivery: Stored, request: CapturedRequest | null): Step {
  const { at, what, target, outcome, reason, next_at } = moment;
  const { run, outputs, state, id, failures } = delivery;
  const { agent } = delivery.dispatch;
  const text = upper(people(what));
  if (/^(accepted|replayed)/.test(what)) {
    const response = request === null ? '' : `responded ${request.status}`;
    return step(at, ['good', 'check'], <a href={to(['deliveries', id])}>{text}</a>, response);
  }
  const place = run.answer !== null || run.attempts > 0 ? 'run' : 'prompt';
  if (what === 'run started')
    return step(at, ['calm', 'bot'], <Jump to="prompt">{text}</Jump>, agent && `agent ${agent}`);
  if (what.startsWith('answered'))
    return step(at, ['good', 'bot'], <Jump to="run">{text}</Jump>, duration(run.duration_ms ?? 0));
  const [kind, icon] = lookOf(what.split(' ', 1)[0] === 'approved' ? 'approved' : (outcome ?? what));
  if (target === null && what === state) return step(at, [kind, icon], text);
  const then = what.startsWith('approved') ? 'takes effect' : 'next attempt';
  // The page begins with the last failures.
  const isSaid = failures.some((failure) => failure.target === target && failure.reason === reason);
  const why = [!isSaid && reason, next_at !== null && `${then} ${instant(next_at, 'second')}`]
    .filter(Boolean)
    .join('; ');
  if (target === null) return step(at, [kind, icon], <Jump to={place}>{text}</Jump>, why);
  const isOutput = outputs.some(({ name, target: receiver }) => target === `${receiver} (${name})`);
  const jump = <Jump to={isOutput ? 'outputs' : place}>{`${text}: ${target}`}</Jump>;
  return step(at, [kind, what === 'delivered' ? 'deliveries' : icon], jump, why);
}
