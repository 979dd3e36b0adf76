/** Re-evaluates a request with the current configuration: its stages, one of them open, and the prompt with its placeholders. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Output } from '../api.ts';
import { count } from '../parts/format.ts';
import { to } from '../parts/router.ts';
import { Block, Card, Facts, Note, State } from '../parts/ui.tsx';

export type Explanation = Output<'explainRequest'>;
type Stage = Explanation['stages'][number];
type Answered = Pick<Output<'getRequest'>, 'outcome' | 'stage' | 'reason' | 'about' | 'delivery_id' | 'dispatch_id'>;
type Finding = NonNullable<Explanation['filter']>;

const MARKS = { pass: ['✓', 'good'], stop: ['✗', 'bad'], skipped: ['·', 'dim'] } as const;
/** The stages by subject, in their order. */
const GROUPS = [
  ['Request', 'method open origin rate_check probe size credential body handshake'],
  ['Signature', 'signature challenge rate_consume parse'],
  ['Event', 'identify event filter age loop duplicate script'],
  ['Prompt and queue', 'render dispatch'],
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
  const isSame = isSameNow(of, was);
  const why = whyIgnored(of, was);
  const note = noteOf(was, isOver);
  const stages = isOver ? originalStages(of.stages, was) : of.stages;
  const deciding = stages.find(({ result }) => result === 'stop');
  const [open, setOpen] = useState(deciding?.stage ?? '');
  const stage = stages.find((each) => each.stage === open);
  const same = was.outcome === 'ignored' ? 'Why it was ignored' : 'Checks';
  const title = isOver ? 'What stopped it' : isSame ? same : 'Would it pass now?';
  return (
    <Card title={title} id="checks" aside={!isOver && <State of={of.outcome} reason={of.reason} />}>
      {why !== null && <p>{why}</p>}
      {!isOver && <p class="dim small">{isSame ? SAME : `${OTHER} ${decisionOf(was)}.`}</p>}
      {note !== null && <Note>{note}</Note>}
      {of.would_not_start !== null && <Note kind="bad">The gateway would not start: {of.would_not_start}</Note>}
      {GROUPS.map(([group, names]) => {
        const members = stages.filter(({ stage: name }) => names.split(' ').includes(name));
        return (
          <details key={group} class="stages" open={members.some(({ stage: name }) => name === deciding?.stage)}>
            <summary>
              {group} <span class="dim small">{summaryOf(members)}</span>
            </summary>
            <ol class="bar" aria-label={group}>
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
      {of.warnings.length > 0 && <Note kind="warn">{of.warnings.join(' ')}</Note>}
    </Card>
  );
}

/** What the stages do not say about the original response. @param isOver the reason no longer applies */
function noteOf({ outcome, stage, reason, delivery_id, dispatch_id }: Answered, isOver: boolean): ComponentChildren {
  const known = <a href={to(['requests'], { grep: delivery_id })}>requests with ID {delivery_id}</a>;
  if (outcome === 'duplicate') return <>An event with the same delivery ID was accepted earlier: {known}.</>;
  if (!isOver) return null;
  if (stage === 'script') return 'The script of the route decided this. It does not run again here.';
  const once = reason === 'route_paused' ? ' once the route is resumed' : '';
  if (outcome !== 'delivery_failed') return `The cause was temporary. A replay may be accepted${once}.`;
  const delivery = <a href={to(['deliveries', dispatch_id ?? ''])}>see the delivery</a>;
  return <>The message could not be delivered: {delivery}.</>;
}

const SAME = 'Checked again with the current configuration: the same result.';
const OTHER = 'Checked again with the current configuration. The response was';

/** `ignored: filter`. */
export const decisionOf = ({ outcome, reason }: Pick<Answered, 'outcome' | 'reason'>): string =>
  (reason === null || reason === outcome ? outcome : `${outcome}: ${reason}`).replaceAll('_', ' ');

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
          {(of.filter.operator === 'all' ? of.filter.of : [of.filter]).map((each, at) => (
            <Filter key={at} of={each} />
          ))}
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

const GROUP_WORDS: Readonly<Record<string, string>> = { all: 'all of', any: 'one of', not: 'not all of' };

const Filter = ({ of }: { of: Finding }) => (
  <li>
    <span class={of.holds ? 'good' : 'bad'}>
      {of.element === undefined ? '' : `element ${of.element} `}
      <span aria-hidden="true">{of.holds ? '✓' : '✗'}</span> {of.holds ? '' : 'not met:'}
    </span>{' '}
    {of.field === null ? `${GROUP_WORDS[of.operator]}:` : <Condition of={of} />}
    {of.of.length > 0 && (
      <ul>
        {of.of.map((member, at) => (
          <Filter key={at} of={member} />
        ))}
      </ul>
    )}
  </li>
);

/** What a filter takes, by its operator. */
const TAKES: Readonly<Record<string, (expected: unknown) => string>> = {
  exists: (expected) => (expected === true ? 'events that have it' : 'events without it'),
  missing: () => 'events without it',
  equals: (expected) => shown(expected),
  not_equals: (expected) => `anything but ${shown(expected)}`,
  gt: (expected) => `more than ${shown(expected)}`,
  gte: (expected) => `${shown(expected)} or more`,
  lt: (expected) => `less than ${shown(expected)}`,
  lte: (expected) => `${shown(expected)} or less`,
  contains: (expected) => `what contains ${shown(expected)}`,
  starts_with: (expected) => `what starts with ${shown(expected)}`,
  in: (expected) => cut((Array.isArray(expected) ? expected : []).map(shown).join(' or ') || 'nothing'),
  in_file: (expected) => `what is in the list ${shown(expected)}`,
  regex: (expected) => `what matches ${cut(String(expected))}`,
  any_of: () => 'lists with an element that fits',
  all_of: () => 'lists whose elements all fit',
};

/** `action` is "edited"; the filter takes "opened" or "reopened". @param isBarred the filter rejects what fits */
const Condition = ({ of, isBarred = false }: { of: Finding; isBarred?: boolean }) => (
  <>
    <code>{of.field}</code> is {of.missing ? 'missing' : shown(of.found)}; the filter {isBarred ? 'rejects' : 'takes'}{' '}
    {TAKES[of.operator]?.(of.expected)}
  </>
);

/** The conditions that decided the result of a filter. Inside `not`, these are the ones that hold. */
function decidingOf(of: Finding): readonly Finding[] {
  if (of.field !== null) return [of];
  const holds = of.holds !== (of.operator === 'not');
  return of.of.filter((member) => member.holds === holds).flatMap(decidingOf);
}

/** True if the current configuration decides as the stored response did. */
const isSameNow = (of: Explanation, was: Answered): boolean => of.outcome === was.outcome && of.reason === was.reason;

/** Why a request was ignored, in one sentence; null if another one decided, or the current configuration decides otherwise. */
export function whyIgnored(of: Explanation | null, was: Answered): ComponentChildren {
  if (of === null || was.outcome !== 'ignored' || !isSameNow(of, was)) return null;
  const { accepts } = of.stages.find(({ result }) => result === 'stop') ?? {};
  if (accepts !== undefined) return `Ignored: the event is ${of.event}; the route takes ${accepts.join(' or ')}.`;
  const [first, ...others] = of.filter === null ? [] : decidingOf(of.filter);
  if (first === undefined) return null;
  return (
    <>
      Ignored: <Condition of={first} isBarred={first.holds} />
      {others.length > 0 && ` (and ${count(others.length, 'more condition')})`}.
    </>
  );
}

const shown = (value: unknown): string => cut(JSON.stringify(value) ?? 'null');
const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

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
