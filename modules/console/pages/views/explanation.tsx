/** Re-evaluates a request with the current configuration: its stages, one of them open, and the prompt with its placeholders. */
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { to } from '../parts/router.ts';
import { Block, Card, Facts, Note, State } from '../parts/ui.tsx';

type Explanation = Output<'explainRequest'>;
type Stage = Explanation['stages'][number];
type Answered = Pick<Output<'getRequest'>, 'outcome' | 'stage' | 'reason' | 'about' | 'delivery_id' | 'dispatch_id'>;
type Finding = NonNullable<Explanation['filter']>;

const MARKS = { pass: ['✓', 'good'], stop: ['✗', 'bad'], skipped: ['·', 'dim'] } as const;
/** The stages by subject, in their order. */
const GROUPS = [
  ['Request', 'method open origin rate_check probe size credential body handshake'],
  ['Signature', 'signature challenge rate_consume parse'],
  ['Event', 'identify event filter age loop duplicate script'],
  ['Work', 'render dispatch'],
] as const;

/** `passed`, `stopped`, or that no stage was reached. */
function summaryOf(members: readonly Stage[]): string {
  if (members.some(({ result }) => result === 'stop')) return 'stopped here';
  return members.some(({ result }) => result === 'pass') ? 'passed' : 'not reached';
}

/** Most characters of a payload value. */
const LONGEST = 200;

/** Outcomes that depend on the moment: a later evaluation does not reproduce them. */
const MOMENTARY = ['duplicate', 'rate_limited', 'overloaded', 'shutting_down', 'internal_error'];
/** Reasons that a later evaluation may not reproduce: they end, or they need a script run or a delivery. */
const TEMPORARY: readonly unknown[] = ['script', 'delivery_failed', 'job_paused', 'loop', 'budget', 'age'];

/** True if the request was stopped for a reason that no longer applies, and nothing stops it earlier now. */
function isPast({ stages, outcome: now }: Explanation, { outcome, reason, stage }: Answered): boolean {
  const before = stages.slice(0, Math.max(0, placeOf(stages, stage)));
  const isTemporary = MOMENTARY.includes(outcome) || TEMPORARY.includes(reason);
  return isTemporary && outcome !== now && !before.some(({ result }) => result === 'stop');
}

const placeOf = (stages: readonly Stage[], name: Answered['stage']): number =>
  stages.findIndex(({ stage }) => stage === name);

/** The stages as of the original response: the one that stopped the request, and none after it. */
function originalStages(stages: readonly Stage[], was: Answered): readonly Stage[] {
  const at = placeOf(stages, was.stage);
  const stopped = { result: 'stop', reason: was.reason ?? was.outcome, detail: aboutText(was) } as const;
  const later = { result: 'skipped', reason: 'not_reached' } as const;
  return stages.map((each, place) => (at < 0 || place < at ? each : { ...each, ...(place === at ? stopped : later) }));
}

/** A text of the response, such as the output of a script. */
export const aboutText = ({ about }: Pick<Answered, 'about'>): string => (about?.kind === 'text' ? about.text : '');

/** @param was the original response */
export function ExplanationCard({ of, was }: { of: Explanation; was: Answered }) {
  const isOver = isPast(of, was);
  const stages = isOver ? originalStages(of.stages, was) : of.stages;
  const deciding = stages.find(({ result }) => result === 'stop');
  const [open, setOpen] = useState(deciding?.stage ?? '');
  const stage = stages.find((each) => each.stage === open);
  return (
    <Card
      title={isOver ? 'What stopped it' : 'Would it pass now?'}
      id="checks"
      aside={!isOver && <State of={of.outcome} reason={of.reason} />}
    >
      {!isOver && <p class="dim small">{of.outcome === was.outcome ? SAME : OTHER}</p>}
      <Difference of={of} was={was} />
      {of.would_not_start !== null && <Note kind="bad">The gateway would not start: {of.would_not_start}</Note>}
      {GROUPS.map(([title, names]) => {
        const members = stages.filter(({ stage: name }) => names.split(' ').includes(name));
        return (
          <details key={title} class="stages" open={members.some(({ stage: name }) => name === deciding?.stage)}>
            <summary>
              {title} <span class="dim small">{summaryOf(members)}</span>
            </summary>
            <ol class="bar" aria-label={title}>
              {members.map(({ stage: name, result }) => (
                <li key={name}>
                  <button
                    type="button"
                    class={MARKS[result][1]}
                    aria-expanded={name === open}
                    onClick={() => setOpen(name)}
                  >
                    {MARKS[result][0]} {name.replaceAll('_', ' ')}
                  </button>
                </li>
              ))}
            </ol>
            {stage !== undefined && members.includes(stage) && <Detail stage={stage} of={of} />}
          </details>
        );
      })}
      {of.warnings.map((text) => (
        <Note key={text} kind="warn">
          {text}
        </Note>
      ))}
    </Card>
  );
}

/** How the re-evaluation differs from the original response, and why. */
function Difference({ of, was }: { of: Explanation; was: Answered }) {
  const { outcome, stage, reason, delivery_id, dispatch_id } = was;
  if (outcome === 'duplicate') {
    return (
      <Note>
        An event with the same delivery ID was accepted earlier:{' '}
        <a href={to(['requests'], { grep: delivery_id })}>requests with ID {delivery_id}</a>.
      </Note>
    );
  }
  if (isPast(of, was)) {
    if (stage === 'script') return <Note>The script of the route decided this. It does not run again here.</Note>;
    const once = reason === 'route_paused' ? ' once the route is resumed' : '';
    if (outcome !== 'delivery_failed')
      return <Note>{`The cause was temporary. A replay may be accepted${once}.`}</Note>;
    return (
      <Note>
        The message could not be delivered: <a href={to(['deliveries', dispatch_id ?? ''])}>see the delivery</a>.
      </Note>
    );
  }
  return null;
}

const SAME = 'Each check, repeated with the current configuration.';
const OTHER = 'Each check, repeated with the current configuration: the outcome is another one now.';

function Detail({ stage, of }: { stage: Stage; of: Explanation }) {
  const { scheme, looked_for, accepts, matched, cause, detail, age_seconds } = stage;
  const script = stage.stage === 'script' ? of.script : null;
  return (
    <div role="status">
      <h3>Stage: {stage.stage.replaceAll('_', ' ')}</h3>
      <p>{RESULTS[stage.result](stage)}</p>
      {cause !== undefined && <Note kind="bad">{cause.text}</Note>}
      <Facts
        of={[
          ['Detail', detail],
          ['Scheme', scheme],
          ['Expected', looked_for?.join(', ')],
          ['Age', age_seconds != null && `${age_seconds} s`],
          ['Accepts', accepts?.join(', ')],
          ['Matched by', matched],
          ['Script', script !== null && `${script.path}: ${script.detail ?? script.outcome ?? 'not run again'}`],
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

const RESULTS: Readonly<Record<Stage['result'], (stage: Stage) => string>> = {
  pass: () => 'The request passed.',
  stop: ({ reason }) => `The request stopped here${reason === null ? '' : `: ${reason.replaceAll('_', ' ')}`}.`,
  skipped: ({ reason }) => (reason === 'not_reached' ? 'The request did not reach this stage.' : `Skipped: ${reason}.`),
};

function Filter({ of }: { of: Finding }) {
  const isList = of.operator === 'any_of' || of.operator === 'all_of';
  const found = of.missing ? 'nothing' : <code>{shown(of.found)}</code>;
  return (
    <li>
      <span class={of.holds ? 'good' : 'bad'}>
        {of.element === undefined ? '' : `element ${of.element} `}
        <span aria-hidden="true">{of.holds ? '✓' : '✗'}</span> {of.holds ? '' : 'not met:'}
      </span>{' '}
      {of.field === null ? (
        of.operator
      ) : (
        <>
          <code>{of.field}</code> {of.operator} {isList ? '' : <code>{shown(of.expected)}</code>}{' '}
          <span class="dim">got {found}</span>
        </>
      )}
      {of.of.length > 0 && (
        <ul>
          {of.of.map((member, at) => (
            <Filter key={at} of={member} />
          ))}
        </ul>
      )}
    </li>
  );
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** The targets and the prompt of the event; unresolved placeholders are highlighted. */
export function Prompt({ of }: { of: Explanation }) {
  const { prompt, agent, agent_name, job, coalesce, deliveries, unresolved } = of;
  if (prompt === null) return <p class="dim">The event was stopped before its prompt was rendered.</p>;
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
          ['Agent', agent !== null && `${agent_name ?? 'the agent'} (${agent})`],
          ['Job', job],
          ['Coalesced', coalesce !== null && `within ${coalesce.window_seconds} s by key ${coalesce.key}`],
          ['Targets', deliveries.map(({ target }) => target).join(', ')],
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
