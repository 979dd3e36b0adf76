/** Re-evaluates a request with the current configuration: its stages, one of them open, and the prompt with its placeholders. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { conditionText, foundText, unmetText } from '../../runtime/filter-text.ts';
import type { Output } from '../api.ts';
import { upper } from '../parts/format.ts';
import { to } from '../parts/router.ts';
import { Block, Card, Facts, lookOf, Note, State } from '../parts/ui.tsx';

export type CapturedRequest = Output<'getRequest'>;
export type Explanation = Output<'explainRequest'>;
export type Stored = Output<'getDelivery'>;
export type Both = { request: CapturedRequest | null; delivery: Stored | null; explained: Explanation | null };
type Stage = Explanation['stages'][number];
type Finding = NonNullable<Explanation['filter']>;

/** The look of a stage, and of a group that it decides: where a request stopped, that of its outcome. */
const MARKS = {
  pass: ['✓', 'good', 'passed'],
  stop: ['✗', '', 'stopped here'],
  skipped: ['·', 'dim', 'not reached'],
} as const;
/** The stages by subject, in their order. */
const GROUPS = [
  ['Request', 'method open origin rate_check probe size credential body handshake'],
  ['Signature', 'signature challenge rate_consume parse'],
  ['Event', 'identify event filter age loop duplicate script'],
  ['Dispatch', 'render dispatch'],
] as const;

/** Outcomes and reasons that a later evaluation may not reproduce: they end, or they need a script run or a delivery. */
const MOMENTARY: readonly unknown[] = ['duplicate', 'rate_limited', 'overloaded', 'shutting_down', 'internal_error'];
const TEMPORARY: readonly unknown[] = ['script', 'delivery_failed', 'job_paused', 'loop', 'budget', 'age'];

/** True if the request was stopped for a reason that no longer applies, and nothing stops it earlier now. */
function isPast({ stages, outcome: now }: Explanation, { outcome, reason, stage }: CapturedRequest): boolean {
  const before = stages.slice(0, Math.max(0, placeOf(stages, stage)));
  const isTemporary = MOMENTARY.includes(outcome) || TEMPORARY.includes(reason);
  return isTemporary && outcome !== now && !before.some(({ result }) => result === 'stop');
}

const placeOf = (stages: readonly Stage[], name: CapturedRequest['stage']): number =>
  stages.findIndex(({ stage }) => stage === name);

/** The stages as of the original response: the one that stopped the request, and none after it. */
function originalStages(stages: readonly Stage[], was: CapturedRequest): readonly Stage[] {
  const at = placeOf(stages, was.stage);
  const stopped = { result: 'stop', reason: was.reason ?? was.outcome, detail: aboutText(was) } as const;
  const later = { result: 'skipped', reason: 'not_reached' } as const;
  return stages.map((each, place) => (at < 0 || place < at ? each : { ...each, ...(place === at ? stopped : later) }));
}

/** A text of the response, such as the output of a script. */
const aboutText = ({ about }: CapturedRequest): string => (about?.kind === 'text' ? about.text : '');

/** @param was the original response */
export function ExplanationCard({ of, was }: { of: Explanation; was: CapturedRequest }) {
  const isOver = isPast(of, was);
  const isSame = isSameNow(of, was);
  const stages = isOver ? originalStages(of.stages, was) : of.stages;
  const deciding = stages.find(({ result }) => result === 'stop');
  const [stopped] = lookOf((isOver ? was : of).outcome);
  const [open, setOpen] = useState(deciding?.stage ?? '');
  const stage = stages.find((each) => each.stage === open);
  const title = isOver ? 'What stopped it' : isSame ? 'Checks' : 'Would it pass now?';
  const before = isSame ? (of.taken ? 'all passed' : 'the same result') : `the response was ${decisionOf(was)}`;
  return (
    <Card title={title} id="checks" aside={!isOver && !isSame && <State of={of.outcome} reason={of.reason} />}>
      {!isOver && <p class="dim small">Checked again with the current configuration: {before}.</p>}
      {of.would_not_start !== null && <Note kind="bad">The gateway would not start: {of.would_not_start}</Note>}
      {GROUPS.map(([group, names]) => {
        const members = stages.filter(({ stage: name }) => names.split(' ').includes(name));
        const results = members.map(({ result }) => result);
        const [mark, look, words] =
          MARKS[(['stop', 'pass'] as const).find((one) => results.includes(one)) ?? 'skipped'];
        return (
          <details key={group} class="stages" open={results.includes('stop')}>
            <summary title={words}>
              <span class={look || stopped}>{mark}</span> {group}
              {mark === '·' && <span class="dim"> {words}</span>}
            </summary>
            <ol class="bar" aria-label={`${group}: ${words}`}>
              {members.map(({ stage: name, result }) => (
                <li key={name}>
                  <button
                    type="button"
                    class={MARKS[result][1] || stopped}
                    aria-expanded={name === open}
                    onClick={() => setOpen(name)}
                  >
                    {MARKS[result][0]} {wordsOf(name)}
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

/** What to know or to do next about a request that was not accepted. A pause ends in another view. */
export function nextStep(was: CapturedRequest, of: Explanation | null): ComponentChildren {
  const { outcome, stage, reason, delivery_id, route, next } = was;
  const same = <a href={to(['requests'], { grep: delivery_id })}>requests with ID {delivery_id}</a>;
  if (outcome === 'duplicate') return <>An event with the same delivery ID was accepted earlier: {same}.</>;
  const isPaused = reason === 'route_paused';
  const resume = isPaused && <a href={to(['routes', route])}>Resume route {route}</a>;
  const then = resume || (reason !== 'filter' && upper(next ?? ''));
  if (of === null || !isPast(of, was)) return then;
  const retry = `The cause was temporary. A replay may be accepted${isPaused ? ' once the route is resumed' : ''}.`;
  return [stage === 'script' ? 'The script of the route decided this.' : retry, ' ', then];
}

/** `ignored: filter`. */
const decisionOf = ({ outcome, reason }: Pick<CapturedRequest, 'outcome' | 'reason'>): string =>
  wordsOf(reason === null || reason === outcome ? outcome : `${outcome}: ${reason}`);

const wordsOf = (name: string): string => name.replaceAll('_', ' ');

function Detail({ stage, of }: { stage: Stage; of: Explanation }) {
  const { result, reason, scheme, looked_for, accepts, cause, detail, age_seconds } = stage;
  const script = stage.stage === 'script' ? of.script : null;
  const filters = (stage.stage === 'filter' && (of.filter?.operator === 'all' ? of.filter.of : of.filter)) || [];
  const why = [stage.stage, 'not_reached', null].includes(reason) ? '' : `: ${wordsOf(reason ?? '')}`;
  return (
    <div role="status">
      <h3>
        {upper(wordsOf(stage.stage))}: {MARKS[result][2]}
        {why}
      </h3>
      {cause !== undefined && <Note kind="bad">{cause.text}</Note>}
      <Facts
        of={[
          ['Detail', detail],
          ['Scheme', scheme],
          ['Expected', looked_for?.join(', ')],
          ['Age', age_seconds != null && `${age_seconds} s`],
          ['Accepts', accepts?.join(', ')],
          ['Script', script !== null && `${script.path}: ${script.detail ?? script.outcome ?? 'not run again'}`],
        ]}
      />
      <Filters of={[filters].flat()} />
    </div>
  );
}

const GROUP_WORDS: Readonly<Record<string, string>> = { all: 'all of', any: 'one of', not: 'not all of' };

/** Conditions, each with whether it holds, and if not, the value: of a single condition, the page begins with it. */
const Filters = ({ of }: { of: readonly Finding[] }) => (
  <ul class="tree">
    {of.map((each, at) => (
      <li key={at}>
        {each.element !== undefined && `element ${each.element} `}
        <span class={each.holds ? 'good' : 'dim'} role="img" aria-label={each.holds ? 'met' : 'not met'}>
          {each.holds ? '✓' : '✗'}
        </span>{' '}
        {each.field === null ? `${GROUP_WORDS[each.operator]}:` : conditionText(each)}
        {each.field !== null && !each.holds && of.length > 1 && <span class="dim"> (it is {foundText(each)})</span>}
        {each.of.length > 0 && <Filters of={each.of} />}
      </li>
    ))}
  </ul>
);

/** True if the current configuration decides as the stored response did. */
const isSameNow = (of: Explanation, was: CapturedRequest): boolean =>
  of.outcome === was.outcome && of.reason === was.reason;

/** Why a request was not accepted, in one sentence. The filter explains it only if the current configuration decides as it did. */
export function whyStopped(of: Explanation | null, was: CapturedRequest): ComponentChildren {
  const { status, outcome } = was;
  const text =
    status < 400 ? decisionOf(was) : `${status < 500 ? 'rejected' : 'failed'} with ${status}: ${decisionOf(was)}`;
  const plain = `${upper([text, aboutText(was)].filter(Boolean).join(': '))}.`;
  if (of === null || outcome !== 'ignored' || !isSameNow(of, was)) return plain;
  const { accepts } = of.stages.find(({ result }) => result === 'stop') ?? {};
  if (accepts !== undefined) return `Ignored: the event is ${of.event}; the route takes ${accepts.join(' or ')}.`;
  return of.filter?.holds === false ? `Ignored: ${unmetText(of.filter)}.` : plain;
}

/** The targets and the prompt of the event; unresolved placeholders are highlighted. */
export function Prompt({ of }: { of: Explanation }) {
  const { prompt, deliveries, unresolved } = of;
  if (prompt === null) return <p>The response would be {decisionOf(of)}.</p>;
  const parts = of.prompt_parts ?? [{ text: prompt, placeholder: null, resolved: true }];
  const targets = deliveries.map(({ target }) => target).join(', ') || 'no target';
  return (
    <>
      <p>Targets: {targets}.</p>
      {unresolved.length > 0 && <Note kind="warn">Not in the payload: {unresolved.join(' ')}</Note>}
      <Block label="Prompt of the new event">
        {parts.map(({ text, placeholder, resolved }) =>
          placeholder === null ? text : <mark class={resolved ? '' : 'bad'}>{text}</mark>,
        )}
      </Block>
    </>
  );
}
