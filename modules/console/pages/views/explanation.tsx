/** What the table in service makes of a request: its stages in a line, of which one is open, and the prompt with its placeholders. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { to } from '../parts/router.ts';
import { Block, Card, Facts, Note, OutcomeBadge } from '../parts/ui.tsx';

type Explained = Output<'explainRequest'>;
type Stage = Explained['stages'][number];
type Answered = Pick<Output<'getRequest'>, 'outcome' | 'stage' | 'reason' | 'about' | 'delivery_id' | 'dispatch_id'>;
type Finding = NonNullable<Explained['filter']>;

const MARKS = { pass: ['✓', 'good'], stop: ['✗', 'bad'], skipped: ['·', 'dim'] } as const;
/** Values of a payload are cut to this many characters. */
const LONGEST = 200;

/** Answers for what was so at the moment: a later look does not find it again. */
const OF_THE_MOMENT = ['duplicate', 'rate_limited', 'overloaded', 'shutting_down', 'internal_error'];
/** Reasons that may not be found again, because they end, or need what is not done here: to run a script, to deliver. */
const PASSING: readonly unknown[] = ['script', 'delivery_failed', 'job_paused', 'loop', 'budget', 'age'];

/** Whether what stopped it then is not found now, though all before it is as it was. */
function isPast({ stages, outcome: now }: Explained, { outcome, reason, stage }: Answered): boolean {
  const before = stages.slice(0, Math.max(0, placeOf(stages, stage)));
  const passes = OF_THE_MOMENT.includes(outcome) || PASSING.includes(reason);
  return passes && outcome !== now && !before.some(({ result }) => result === 'stop');
}

const placeOf = (stages: readonly Stage[], name: Answered['stage']): number =>
  stages.findIndex(({ stage }) => stage === name);

/** The stages of such a request: that which stopped it then, and none after it. */
function asItWas(stages: readonly Stage[], was: Answered): readonly Stage[] {
  const at = placeOf(stages, was.stage);
  const stopped = { result: 'stop', reason: was.reason ?? was.outcome, detail: said(was) } as const;
  const later = { result: 'skipped', reason: 'not_reached' } as const;
  return stages.map((each, place) => (at < 0 || place < at ? each : { ...each, ...(place === at ? stopped : later) }));
}

/** Such as what a script printed. */
export const said = ({ about }: Pick<Answered, 'about'>): string => (about?.kind === 'text' ? about.text : '');

/** @param was how it was answered when it came */
export function Explanation({ of, was }: { of: Explained; was: Answered }) {
  const stages = isPast(of, was) ? asItWas(of.stages, was) : of.stages;
  const deciding = stages.find(({ result }) => result === 'stop') ?? stages.findLast(({ result }) => result === 'pass');
  const [open, setOpen] = useState(deciding?.stage ?? '');
  const stage = stages.find((each) => each.stage === open);
  return (
    <Card title="Why">
      <Then of={of} was={was} />
      {of.would_not_start !== null && <Note kind="bad">The gateway would not start: {of.would_not_start}</Note>}
      <ol class="bar stages" aria-label="Stages">
        {stages.map(({ stage: name, result }) => (
          <li key={name}>
            <button type="button" class={MARKS[result][1]} aria-expanded={name === open} onClick={() => setOpen(name)}>
              {MARKS[result][0]} {name}
            </button>
          </li>
        ))}
      </ol>
      {stage !== undefined && <Detail stage={stage} of={of} />}
      {of.warnings.map((text) => (
        <Note key={text} kind="warn">
          {text}
        </Note>
      ))}
    </Card>
  );
}

/** How what is shown differs from how it was answered, and why. */
function Then({ of, was }: { of: Explained; was: Answered }) {
  const { outcome, stage, reason, delivery_id, dispatch_id } = was;
  if (outcome === 'duplicate') {
    return (
      <Note>
        An event with the same id was taken before:{' '}
        <a href={to(['requests'], { grep: delivery_id })}>requests with the id {delivery_id}</a>.
      </Note>
    );
  }
  if (isPast(of, was)) {
    if (stage === 'script') return <Note>Its script decided, which does not run again here.</Note>;
    const once = reason === 'route_paused' ? ', once its route is not paused' : '';
    if (outcome !== 'delivery_failed')
      return <Note>{`That was so at the moment. Sent again, it may be taken${once}.`}</Note>;
    return (
      <Note>
        Its message could not be delivered: <a href={to(['deliveries', dispatch_id ?? ''])}>its delivery</a> says why.
      </Note>
    );
  }
  if (of.outcome === outcome)
    return <p class="dim small">Judged anew, by the configuration and the pauses of this moment.</p>;
  return (
    <Note kind="warn">
      By the table in service now it would be answered <OutcomeBadge outcome={of.outcome} reason={of.reason} />
    </Note>
  );
}

function Detail({ stage, of }: { stage: Stage; of: Explained }) {
  const { scheme, looked_for, accepts, matched, cause, detail, age_seconds } = stage;
  const script = stage.stage === 'script' ? of.script : null;
  return (
    <div role="status">
      <h3>{stage.stage}</h3>
      <p>{SAID[stage.result](stage)}</p>
      {cause !== undefined && <Note kind="bad">{cause.text}</Note>}
      <Facts
        of={[
          ['Detail', detail],
          ['Scheme', scheme],
          ['Looked for', looked_for?.join(', ')],
          ['Age', age_seconds != null && `${age_seconds} s`],
          ['Accepts', accepts?.join(', ')],
          ['Matched by', matched],
          ['Script', script !== null && `${script.path}: ${script.detail ?? script.outcome ?? 'not run again here'}`],
        ]}
      />
      {stage.stage === 'filter' && of.filter !== null && (
        <ul class="tree">
          <Filter of={of.filter} />
        </ul>
      )}
    </div>
  );
}

const SAID: Readonly<Record<Stage['result'], (stage: Stage) => string>> = {
  pass: () => 'The request passed.',
  stop: ({ reason }) => `The request stopped here${reason === null ? '' : `: ${reason.replaceAll('_', ' ')}`}.`,
  skipped: ({ reason }) => (reason === 'not_reached' ? 'The request did not come this far.' : `Skipped: ${reason}.`),
};

function Filter({ of }: { of: Finding }) {
  const found = of.missing ? 'nothing' : <code>{shown(of.found)}</code>;
  return (
    <li>
      <span class={of.holds ? 'good' : 'bad'}>
        <span aria-hidden="true">{of.holds ? '✓' : '✗'}</span> {of.holds ? '' : 'does not hold:'}
      </span>{' '}
      {of.field === null ? (
        <>
          {of.operator}
          <ul>
            {of.of.map((member, at) => (
              <Filter key={at} of={member} />
            ))}
          </ul>
        </>
      ) : (
        <>
          <code>{of.field}</code> {of.operator} <code>{shown(of.expected)}</code> <span class="dim">found {found}</span>
        </>
      )}
    </li>
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Where the event goes, and with which text: placeholders that did not resolve stand out. */
export function Prompt({ of }: { of: Explained }) {
  const { prompt, agent, agent_name, job, coalesce, deliveries, unresolved } = of;
  if (prompt === null) return <p class="dim">The event did not come this far.</p>;
  const parts = of.prompt_parts ?? [{ text: prompt, placeholder: null, resolved: true }];
  const marked = (text: string, placeholder: string, resolved: boolean) => (
    <mark class={resolved ? '' : 'bad'} title={placeholder}>
      {text}
    </mark>
  );
  return (
    <>
      <Facts
        of={[
          ['Runs', agent !== null && `${agent_name ?? 'the agent'} (${agent})`],
          ['Fires', job !== null && `job ${job}`],
          ['Waits', coalesce !== null && `${coalesce.window_seconds} s for more of ${coalesce.key}`],
          ['Goes to', deliveries.map(({ target }) => target).join(', ')],
          ['Unresolved', unresolved.length > 0 && <span class="bad">{unresolved.join(' ')}</span>],
        ]}
      />
      <Block label="Prompt">
        {parts.map(({ text, placeholder, resolved }) =>
          placeholder === null ? text : marked(text, placeholder, resolved),
        )}
      </Block>
    </>
  );
}
