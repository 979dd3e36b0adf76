/** The timeline of an event: received, verified, filtered, accepted, waiting, run, outputs, deliveries, done. */
import type { ComponentChildren } from 'preact';
import { bytes, duration, instant } from '../parts/format.ts';
import type { IconName } from '../parts/icons.tsx';
import { Icon } from '../parts/icons.tsx';
import { to } from '../parts/router.ts';
import type { Kind } from '../parts/ui.tsx';
import { Card, External, Jump, lookOf } from '../parts/ui.tsx';
import { WAITS_FOR } from './deliveries.tsx';
import type { CapturedRequest, Explanation, Stored } from './event.tsx';

interface Step {
  /** Unix ms. */
  readonly at: number;
  readonly icon: IconName;
  readonly kind?: Kind;
  readonly text: ComponentChildren;
  readonly about?: ComponentChildren;
}

interface Props {
  readonly request: CapturedRequest | null;
  readonly delivery: Stored | null;
  readonly explained: Explanation | null;
}

export function Timeline({ request, delivery, explained }: Props) {
  const steps = [
    ...(request === null ? [] : requestSteps(request, explained, delivery !== null)),
    ...(delivery === null ? [] : deliverySteps(delivery, request)),
  ];
  return (
    <Card title="Timeline" aside={<span class="dim small">{instant(steps[0]?.at)}</span>}>
      <ol class="timeline">
        {steps.map(({ at, icon, kind = 'calm', text, about }, index) => (
          <li key={index}>
            <span class={kind}>
              <Icon of={icon} />
            </span>
            <span>
              {text} <span class="dim">{about}</span>
            </span>
            <time class="dim small" dateTime={new Date(at).toISOString()} title={instant(at, 'second')}>
              {instant(at, 'second').slice(11, 19)}
            </time>
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** @param isStored the steps of the delivery follow, of which the first is the acceptance */
function requestSteps(request: CapturedRequest, explained: Explanation | null, isStored: boolean): readonly Step[] {
  const { at, method, path, body_bytes, verified, scheme, outcome, reason, status, dispatch_id } = request;
  const size = body_bytes === null ? '' : `, ${bytes(body_bytes)}`;
  const [kind, icon] = lookOf(outcome);
  const isUnsigned = scheme === 'none' || scheme === null;
  const filter = explained?.stages.find(({ stage }) => stage === 'filter')?.result;
  return [
    { at, icon: 'requests', text: <Jump to="payload">Received</Jump>, about: `${method} ${path}${size}` },
    ...(verified
      ? [
          {
            at,
            icon: 'shield',
            kind: isUnsigned ? 'calm' : 'good',
            text: isUnsigned ? 'Signature not checked' : 'Signature verified',
            about: isUnsigned ? '' : scheme,
          } as const,
        ]
      : []),
    ...(filter === 'pass' && (dispatch_id !== null || reason !== 'filter')
      ? [{ at, icon: 'funnel', kind: 'good', text: <Jump to="stages">Filters passed</Jump> } as const]
      : []),
    ...(isStored
      ? []
      : [
          {
            at,
            icon,
            kind,
            text: <Jump to="stages">{`Responded ${status}`}</Jump>,
            about: (reason === null ? outcome : `${outcome}: ${reason}`).replaceAll('_', ' '),
          },
        ]),
  ];
}

function deliverySteps(delivery: Stored, request: CapturedRequest | null): readonly Step[] {
  const { timeline, accepted_at, started_at, outputs, waits_for, waits_since, state } = delivery;
  const steps: Step[] = timeline.map((moment) => momentStep(moment, delivery, request));
  const firstRun = timeline.findIndex(({ what }) => what === 'run started');
  const waited = (timeline[firstRun]?.at ?? accepted_at) - accepted_at;
  if (firstRun > 0 && waited >= 1000)
    steps.splice(firstRun, 0, { at: accepted_at, icon: 'clock', text: 'Waited', about: `${duration(waited)} to run` });
  const answered = timeline.findIndex(({ what }) => what.startsWith('answered'));
  if (answered >= 0 && outputs.length > 0) {
    const after = steps.findIndex(({ at }) => at >= (timeline[answered]?.at ?? 0)) + 1;
    const names = outputs.map(({ name, target }) => `${name} to ${target}`).join(', ');
    const at = timeline[answered]?.at ?? accepted_at;
    steps.splice(after, 0, { at, icon: 'check', text: <Jump to="outputs">Outputs</Jump>, about: names });
  }
  if (waits_for !== null) {
    const text = `Waiting for ${WAITS_FOR[waits_for]}`;
    const href = {
      session: to(['sessions']),
      pause: to(['routes', delivery.route ?? '']),
      agent: to(['sessions']),
      approval: to(['approvals']),
    };
    steps.push({
      at: waits_since ?? accepted_at,
      icon: 'clock',
      kind: 'warn',
      text: <a href={href[waits_for]}>{text}</a>,
    });
  } else if (state === 'running') {
    steps.push({ at: started_at ?? accepted_at, icon: 'loader', kind: 'warn', text: 'Running' });
  }
  return steps;
}

const upper = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function momentStep(moment: Stored['timeline'][number], delivery: Stored, request: CapturedRequest | null): Step {
  const { at, what, target, outcome, reason, next_at } = moment;
  const { run, outputs, state, id } = delivery;
  if (what === 'accepted' || what === 'replayed') {
    const text = <a href={to(['deliveries', id])}>{upper(what)}</a>;
    return { at, icon: 'check', kind: 'good', text, about: request === null ? '' : `responded ${request.status}` };
  }
  if (what === 'run started') return { at, icon: 'bot', text: 'Run started' };
  if (what.startsWith('answered')) {
    const facts = [
      run.duration_ms !== null && duration(run.duration_ms),
      run.exit_code !== null && `exit code ${run.exit_code}`,
      run.usage !== null && `${(run.usage.input_tokens ?? 0) + (run.usage.output_tokens ?? 0)} tokens`,
    ].filter(Boolean);
    return { at, icon: 'bot', kind: 'good', text: <Jump to="run">{upper(what)}</Jump>, about: facts.join(', ') };
  }
  const [kind, icon] = lookOf(outcome ?? what);
  const next = next_at === null ? '' : `; next attempt ${instant(next_at, 'second')}`;
  if (target === null) {
    const isEnd = what === state;
    return {
      at,
      icon,
      kind,
      text: isEnd ? upper(what) : <Jump to="run">{upper(what)}</Jump>,
      about: `${reason ?? ''}${next}`,
    };
  }
  const posted = outputs.find(({ name, target: to }) => target === `${to} (${name})`)?.message_id ?? null;
  const link = what === 'delivered' && posted !== null && /^https?:/.test(posted) ? <External url={posted} /> : '';
  return {
    at,
    icon: what === 'delivered' ? 'deliveries' : icon,
    kind,
    text: `${upper(what)}: ${target}`,
    about: link === '' ? `${reason ?? ''}${next}` : link,
  };
}
