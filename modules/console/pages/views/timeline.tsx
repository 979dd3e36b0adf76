/** The timeline of an event: received, verified, filtered, accepted, waiting, run, outputs, deliveries, done. */
import type { ComponentChildren } from 'preact';
import { bytes, duration, instant, people, upper } from '../parts/format.ts';
import type { IconName, Kind } from '../parts/icons.tsx';
import { Icon } from '../parts/icons.tsx';
import { to } from '../parts/router.ts';
import { Card, Jump, lookOf } from '../parts/ui.tsx';
import { WAITS_FOR } from './deliveries.tsx';
import type { Both, CapturedRequest, Stored } from './explanation.tsx';

type Look = readonly [Kind, IconName];
/** @param at Unix ms @param place where it leads: the id of a card, or an address */
type Step = readonly [at: number, look: Look, place: string, text: string, about?: ComponentChildren];

const step = (...of: Step): Step => of;

/** The time of the first step, and of each other one since then, because many happen in the same second. */
export function Timeline(both: Both) {
  const steps = [...requestSteps(both), ...deliverySteps(both)];
  const [[begin] = [0]] = steps;
  return (
    <Card title="Timeline" aside={<span class="dim small">{instant(begin).slice(0, 10)} UTC</span>}>
      <ol class="timeline">
        {steps.map(([at, [kind, icon], place, text, about], index) => (
          <li key={index}>
            <span class={kind} children={<Icon of={icon} />} />
            <span>
              {place.startsWith('#') ? <a href={place}>{text}</a> : <Jump to={place}>{text}</Jump>}{' '}
              <span class="dim">{about}</span>
            </span>
            <time class="dim small" dateTime={new Date(at).toISOString()} title={instant(at, 'second')}>
              {index === 0 ? instant(at, 'second').slice(11, 19) : `+${since(at - begin)}`}
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

/** Rounded: `40 s`, `6 min`. */
const soFar = (from: number): string => duration(Date.now() - from).replace(/^(\S+ \S+) .*/, '$1');

function requestSteps({ request, explained, delivery }: Both): readonly Step[] {
  if (request === null) return [];
  const { at, method, path, body_bytes, verified, scheme, outcome, reason, status } = request;
  const size = body_bytes === null ? '' : `, ${bytes(body_bytes)}`;
  const isSigned = scheme !== 'none' && scheme !== null;
  const check = (look: Look, text: string, about: ComponentChildren = ''): Step =>
    step(at, look, explained === null ? 'details' : 'checks', text, about);
  const isUnmet = reason === 'filter';
  return [
    step(at, ['calm', 'requests'], 'payload', 'Received', `${method} ${path}${size}`),
    ...(verified && isSigned ? [check(['good', 'shield'], 'Signature verified', scheme)] : []),
    ...(verified && !isSigned ? [check(['calm', 'shield'], 'Signature not checked')] : []),
    ...(isUnmet ? [check(['calm', 'funnel'], 'Filter not met')] : []),
    ...(explained?.filter?.holds && !isUnmet ? [check(['good', 'funnel'], 'Filters passed')] : []),
    // The first step of a delivery is the response.
    ...(delivery === null ? [check(lookOf(outcome), `Responded ${status}`, outcome.replaceAll('_', ' '))] : []),
  ];
}

function deliverySteps({ delivery, request }: Both): readonly Step[] {
  if (delivery === null) return [];
  const { timeline, accepted_at, outputs, waits_for, waits_since, state, route, configured } = delivery;
  const steps = timeline.flatMap((moment): readonly Step[] => {
    const own = momentStep(moment, delivery, request);
    if (!moment.what.startsWith('answered') || outputs.length === 0) return [own];
    const names = outputs.map(({ name }) => name).join(', ');
    return [own, step(moment.at, ['calm', 'check'], 'outputs', 'Outputs', names)];
  });
  if (waits_for !== null) {
    const from = waits_since ?? accepted_at;
    const own = waits_for === 'pause' ? ['routes', route ?? ''] : [waits_for === 'approval' ? 'approvals' : 'sessions'];
    const text = `Waiting for ${WAITS_FOR[waits_for]}`;
    return [...steps, step(from, ['warn', 'clock'], to(own), text, `${soFar(from)} so far`)];
  }
  const { at: began } = timeline.findLast(({ what }) => what === 'run started') ?? {};
  if (state !== 'running' || began === undefined) return steps;
  const { timeout_seconds: most } = configured;
  const limit = most === null ? '' : `of at most ${duration(most * 1000)}`;
  return [...steps, step(began, ['warn', 'loader'], 'prompt', `Running for ${soFar(began)}`, limit)];
}

const inWords = (tokens: number | null): string => (tokens ?? 0).toLocaleString();

/** `287 ms, exit code 0, 1,200 tokens in, 80 out`. */
export const runText = ({ attempts, duration_ms, exit_code, signal, usage }: Stored['run']): string =>
  [
    attempts > 1 && `${attempts} attempts`,
    duration_ms !== null && duration(duration_ms),
    exit_code === null ? signal : `exit code ${exit_code}`,
    usage !== null && `${inWords(usage.input_tokens)} tokens in, ${inWords(usage.output_tokens)} out`,
    usage?.cost != null && `cost ${usage.cost}`,
  ]
    .filter(Boolean)
    .join(', ');

function momentStep(moment: Stored['timeline'][number], delivery: Stored, request: CapturedRequest | null): Step {
  const { at, what, target, outcome, reason, next_at } = moment;
  const { run, outputs, state, failures, timeline, dispatch } = delivery;
  const text = upper(people(what));
  if (/^(accepted|replayed)/.test(what))
    return step(at, ['good', 'check'], 'details', text, request !== null && `responded ${request.status}`);
  if (what === 'run started')
    return step(at, ['calm', 'bot'], 'prompt', text, dispatch.agent && `agent ${dispatch.agent}`);
  if (what.startsWith('answered')) return step(at, ['good', 'bot'], 'run', text, duration(run.duration_ms ?? 0));
  const isApproved = /^approved\b/.test(what);
  const look = lookOf(isApproved ? 'approved' : (outcome ?? what));
  if (target === null && what === state) return step(at, look, 'details', text);
  // The page begins with the last failures.
  const isSaid = failures.some((failure) => failure.target === target && failure.reason === reason);
  const isLast = outcome === 'permanent' && `not retried: ${/HTTP \d+/.exec(reason ?? '')?.[0] ?? 'this'} is permanent`;
  const next = next_at !== null && `${isApproved ? 'takes effect' : 'next attempt'} ${instant(next_at, 'second')}`;
  const why = [!isSaid && reason, isLast, next].filter(Boolean).join('; ');
  const place = run.answer === null && run.stderr + run.stdout === '' ? 'prompt' : 'run';
  if (target === null) return step(at, look, place, text, why);
  const isOutput = outputs.some(({ name, target: receiver }) => target === `${receiver} (${name})`);
  const tries = timeline.filter((each) => each.target === target && /^delivery attempt/.test(each.what)).length;
  const isRetried = state === 'dead' && tries > 1 && outcome !== 'permanent';
  const numbered = isRetried ? text.replace(/attempt \d+/, `$& of ${tries}`) : text;
  const of: Look = what === 'delivered' ? [look[0], 'deliveries'] : look;
  return step(at, of, isOutput ? 'outputs' : place, `${numbered}: ${target}`, why);
}
