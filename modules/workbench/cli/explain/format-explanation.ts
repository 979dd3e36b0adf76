/** Prints an explanation: the answer, the stages that decided something, and what would run. */

import { resolve } from 'node:path';
import { writeJson } from '../../../../base/exact-number.ts';
import { agentLabel, DEFAULT_PROFILE } from '../../../../base/names.ts';
import type { Paint } from '../../../../base/paint.ts';
import type { CliContext } from '../../../../cli/base/context.ts';
import { formatDiff } from '../../../../cli/files.ts';
import { visible } from '../../../../cli/output/print.ts';
import { parseSecretRef } from '../../../../compiler/text/secret-ref.ts';
import type { Reach } from '../../../../compiler/views/views.ts';
import { amountsText } from '../../../../runtime/store/usage.ts';
import { REASON_TEXTS } from '../../../../runtime/verify/verification.ts';
import type { ExplainedFilter, ExplainedStage, Explanation, SecretRef } from '../../../../schemas/generated/types.ts';

/** Values of a payload are cut to this many characters. */
const LONGEST_VALUE = 60;

export function formatExplanation(explanation: Explanation, paint: Paint): string[] {
  return [
    ...startLines(explanation, paint),
    headline(explanation, paint),
    ...explanation.stages.flatMap((stage) => formatStage(stage, explanation, paint)),
    ...(explanation.response === undefined ? [] : responseLines(explanation.response, paint)),
    ...(explanation.events ?? []).flatMap((event, at) =>
      formatExplanation({ ...event, route: `${explanation.route} #${at}` }, paint).map((line) => `  ${line}`),
    ),
    ...formatOutcome(explanation, paint),
    ...explanation.warnings.map((text) => `${paint('yellow', '!')} ${visible(text)}`),
  ];
}

const responseLines = (
  { content_type, headers, body }: NonNullable<Explanation['response']>,
  paint: Paint,
): string[] => [
  `${paint('cyan', '→')} ${paint('bold', 'answers')} ${visible([content_type ?? 'without a body', addressText(headers)].join(' ').trim())}`,
  ...(body === '' ? [] : body.split('\n').map((line) => `  ${paint('dim', '│')} ${visible(line)}`)),
];

const startLines = ({ would_not_start: reasons }: Explanation, paint: Paint): string[] =>
  (reasons?.split('\n') ?? []).map((reason) => paint('red', `\`serve\` would not start: ${visible(reason)}`));

function headline(explanation: Explanation, paint: Paint): string {
  const answer = `${explanation.status} ${outcomeText(explanation)}`;
  return paint('bold', `${visible(explanation.route)}: `) + paint(explanation.taken ? 'green' : 'red', answer);
}

/** The stage that ended the request. */
export const formatStop = (explanation: Explanation, paint: Paint): string[] =>
  explanation.stages
    .filter(({ result }) => result === 'stop')
    .flatMap((stage) => formatStage(stage, explanation, paint));

const MARKS = { pass: ['green', '✓'], stop: ['red', '✗'], skipped: ['dim', '·'] } as const;

type StageText = (stage: ExplainedStage, explanation: Explanation) => string | null;

/** What to print for a stage that passes the event. Other stages are printed only if they stop it. */
const TELLS: Readonly<Record<string, StageText>> = {
  signature: ({ scheme, secret }) =>
    scheme === null || scheme === undefined
      ? null
      : `${scheme}${secret === undefined ? '' : `, with the previous secret (${secret})`}`,
  identify: (_stage, { event, delivery_id }) =>
    `event ${event ?? ''}${delivery_id === null ? ', without a delivery id' : `, id ${delivery_id}`}`,
  event: ({ accepts, matched }) =>
    accepts === undefined ? 'every event is accepted' : `accepted by the entry "${matched ?? ''}"`,
  filter: (_stage, { filter }) => (filter === null ? null : 'all filters match'),
  script: (_stage, { script }) => (script === null ? null : scriptText(script)),
};

const scriptText = ({ path, outcome, detail }: NonNullable<Explanation['script']>): string =>
  `${path}: ${detail ?? (outcome === 'payload' ? 'replaced the payload' : 'added script_output')}`;

function formatStage(stage: ExplainedStage, explanation: Explanation, paint: Paint): string[] {
  const [style, mark] = MARKS[stage.result];
  const text =
    stage.result === 'stop'
      ? stopText(stage, explanation)
      : stage.result === 'pass'
        ? TELLS[stage.stage]?.(stage, explanation)
        : skippedText(stage, explanation);
  if (text === null || text === undefined) return [];
  const line = `${paint(style, mark)} ${paint('bold', stage.stage.padEnd(10))} ${visible(text)}`;
  const tree = stage.stage === 'filter' && explanation.filter !== null ? formatFilters(explanation.filter, paint) : [];
  const ran = stage.stage === 'script' ? formatScript(explanation.script, paint) : [];
  const cause =
    stage.cause === undefined || saysReason(stage) ? [] : [`  ${' '.repeat(10)} ${visible(stage.cause.text)}`];
  return [line, ...cause, ...tree, ...ran];
}

/** The cause contains the reason, so only one of them is printed. */
function saysReason({ reason, cause }: ExplainedStage): boolean {
  return reason !== null && cause?.text.startsWith(reasonText(reason) ?? ' ') === true;
}

const reasonText = (reason: string): string | null =>
  Object.hasOwn(REASON_TEXTS, reason) ? REASON_TEXTS[reason as keyof typeof REASON_TEXTS] : null;

function stopText(stage: ExplainedStage, explanation: Explanation): string {
  const { stage: name, reason, detail, accepts } = stage;
  if (name === 'event') return `"${explanation.event ?? ''}" is not among ${(accepts ?? []).join(', ')}`;
  if (name === 'filter') return 'these filters do not match:';
  if (name === 'script' && explanation.script !== null) return scriptText(explanation.script);
  const text = reason === null ? null : reasonText(reason);
  if (text !== null) return signatureText(text, stage);
  return detail === undefined ? (reason ?? '') : `${reason}: ${detail}`;
}

function signatureText(text: string, stage: ExplainedStage): string {
  const { cause, looked_for, age_seconds } = stage;
  const age = age_seconds === null || age_seconds === undefined ? '' : ` (${ageText(age_seconds)})`;
  const said = cause !== undefined && saysReason(stage) ? cause.text : text + age;
  return `${said}${looked_for === undefined ? '' : `; looked for ${looked_for.join(', ')}`}`;
}

const ageText = (seconds: number): string => (seconds >= 0 ? `${seconds} s old` : `${-seconds} s ahead`);

function skippedText({ stage, reason, looked_for }: ExplainedStage, { script }: Explanation): string | null {
  if (stage === 'signature' && reason === 'not_signed')
    return `not verified: the request has none; looked for ${(looked_for ?? []).join(', ')}`;
  if (stage === 'signature' && reason === 'no_secret') return 'not verified: the secret is unavailable here';
  if (stage === 'script' && reason === 'not_run' && script !== null)
    return `${script.path}: not run, and the outcome may depend on it; run it with --run-script`;
  return null;
}

function formatFilters(finding: ExplainedFilter, paint: Paint, depth = 1): string[] {
  const indent = '  '.repeat(depth) + (finding.element === undefined ? '' : `[${finding.element}] `);
  const mark = finding.holds ? paint('green', '✓') : paint('red', '✗');
  if (finding.field === null) {
    const members = finding.of.flatMap((member) => formatFilters(member, paint, depth + 1));
    // The list under `filters` is an implicit `all`.
    if (depth === 1 && finding.operator === 'all')
      return finding.of.flatMap((member) => formatFilters(member, paint, depth));
    return [`${indent}${mark} ${finding.operator}`, ...members];
  }
  const found = finding.missing ? 'missing' : valueText(finding.found);
  const isList = finding.operator === 'any_of' || finding.operator === 'all_of';
  const line = isList
    ? `${finding.operator} ${finding.field}`
    : `${finding.field} ${finding.operator} ${valueText(finding.expected)}`;
  const elements = finding.of.flatMap((member) => formatFilters(member, paint, depth + 1));
  return [`${indent}${mark} ${visible(line)}  ${paint('dim', `found ${visible(found)}`)}`, ...elements];
}

function valueText(value: unknown): string {
  const text = writeJson(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

type ExplainedDelivery = Explanation['deliveries'][number];

function deliveryText({ target, address, home_channel, approve, buttons = [] }: ExplainedDelivery): string {
  const notes = [
    ...(home_channel ? ['(home channel)'] : []),
    ...(approve === true ? ['after a person approves the message'] : []),
    ...(buttons.length === 0 ? [] : [`(with buttons in ${buttons.join(', ')})`]),
  ];
  return [target, addressText(address), ...notes].filter((text) => text !== '').join(' ');
}

function outputText(output: NonNullable<Explanation['outputs']>[number]): string {
  const allowed = Object.entries(output.allow).map(([field, values]) => `${field} of ${values.join(', ')}`);
  const required = output.required === true ? ['required'] : [];
  const limits = [`at most ${output.max}`, ...required, ...allowed].join('; ');
  return `${output.output} (${output.fields.join(', ')}) to ${deliveryText(output)}: ${limits}`;
}

const progressText = (at: NonNullable<Explanation['progress']> | null): string =>
  at === null ? 'not shown: the event has no object for it' : deliveryText(at);

function budgetText({ budget, limits, spent, until }: NonNullable<Explanation['budgets']>[number]): string {
  const used = amountsText(spent);
  return `${budget}: ${used === '' ? 'nothing' : used} spent, limit ${amountsText(limits)}, until ${until}`;
}

/** What a sandboxed program can access. */
function sandboxText({ network, read, write }: NonNullable<Explanation['sandbox']>): string {
  const paths = (name: string, of: readonly string[]): readonly string[] =>
    of.length === 0 ? [] : [`${name} ${of.join(', ')}`];
  const hosts = network === 'any' ? network : network.length === 0 ? 'none' : network.join(', ');
  return [`network ${hosts}`, ...paths('reads', read), ...paths('writes', write)].join('; ');
}

/** The script's stdin, and the stderr of a failed script. */
function formatScript(script: Explanation['script'], paint: Paint): string[] {
  const { stdin, stderr } = script ?? { stdin: null, stderr: null };
  const part = (name: string, text: string): string[] =>
    text.split('\n').map((line, at) => `  ${paint('dim', `${(at === 0 ? name : '').padEnd(10)} │`)} ${visible(line)}`);
  return [
    ...(stdin === null ? [] : part('stdin', stdin)),
    ...(stderr === null ? [] : part('stderr', stderr.trimEnd())),
  ];
}

const STATUS_TEXTS = {
  state: 'in the 202 response: the state',
  answer: 'in the 202 response: the state and the answer',
};

const REPLACED = {
  latest: 'earlier runs of its session that wait',
  cancel: 'earlier runs of its session, also the one in progress',
} as const;

function formatOutcome(explanation: Explanation, paint: Paint): string[] {
  if (explanation.prompt === null) return [];
  const facts = [
    [
      'runs',
      explanation.agent === null
        ? null
        : `${agentLabel(null, explanation.agent_name)} (${explanation.agent}), session ${explanation.session ?? ''}`,
    ],
    ['posts while', explanation.fresh === undefined ? null : `the state is ${explanation.fresh}`],
    ['progress', explanation.progress === undefined ? null : progressText(explanation.progress)],
    ['replaces', explanation.on_newer === undefined ? null : REPLACED[explanation.on_newer]],
    ['at once', explanation.max_concurrent === undefined ? null : `at most ${explanation.max_concurrent} of its runs`],
    ['sandbox', explanation.sandbox === undefined ? null : sandboxText(explanation.sandbox)],
    ...(['A reads', 'B reaches', 'C acts'] as const).map((name) => {
      return [name, explanation.reach?.[name[0] as 'A' | 'B' | 'C'].join('; ') || null] as const;
    }),
    ['fires', explanation.job === null ? null : `job ${explanation.job}`],
    [
      'waits',
      explanation.coalesce === null
        ? null
        : `${explanation.coalesce.window_seconds} s for more of ${explanation.coalesce.key}${explanation.coalesce.keep === 'all' ? ', all of which are listed' : ''}`,
    ],
    ...(explanation.budgets ?? []).map((budget) => ['budget', budgetText(budget)] as const),
    ['toolsets', explanation.toolsets.length === 0 ? null : explanation.toolsets.join(', ')],
    ['skills', explanation.skills.length === 0 ? null : explanation.skills.join(', ')],
    ...explanation.deliveries.map((delivery) => ['delivers', deliveryText(delivery)] as const),
    ...(explanation.on_failure ?? []).map((delivery) => ['on failure', deliveryText(delivery)] as const),
    ...(explanation.outputs ?? []).map((output) => ['outputs', outputText(output)] as const),
    ['status_url', explanation.status_url === undefined ? null : STATUS_TEXTS[explanation.status_url]],
    ['unresolved', explanation.unresolved.length === 0 ? null : explanation.unresolved.join(' ')],
  ] as const;
  const lines = facts.flatMap(([name, text]) =>
    text === null ? [] : [`${paint('cyan', '→')} ${paint('bold', name.padEnd(10))} ${visible(text)}`],
  );
  const prompt = explanation.prompt.split('\n').map((line) => `  ${paint('dim', '│')} ${visible(line)}`);
  return [...lines, `${paint('cyan', '→')} ${paint('bold', 'prompt')}`, ...prompt];
}

/** `ignored: filter`, `accepted`. */
export const outcomeText = (answer: { readonly outcome: string; readonly reason: string | null }): string =>
  [answer.outcome, ...otherReason(answer)].join(': ');

/** The reason, unless it only repeats the outcome. */
export const otherReason = ({ outcome, reason }: Parameters<typeof outcomeText>[0]): readonly string[] =>
  reason === null || reason === outcome ? [] : [reason];

/** `chat_id=5 thread_id=7`. */
export const addressText = (address: Readonly<Record<string, string>>): string =>
  Object.entries(address)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');

/** The differing lines of two texts, safe for a terminal. */
export const textDiff = (before: string, after: string, paint: Paint): string[] =>
  formatDiff(visibleLines(before), visibleLines(after), paint);

const visibleLines = (text: string): string => text.split('\n').map(visible).join('\n');

/** Parses a secret or a reference to one. A relative path starts in the working directory. */
export function typedSecretRef({ cwd }: CliContext, text: string): SecretRef {
  const ref = parseSecretRef(text, DEFAULT_PROFILE);
  return ref.kind === 'file' && !ref.value.startsWith('~/') ? { ...ref, value: resolve(cwd, ref.value) } : ref;
}

/** What an agent reads, reaches and does, as texts. */
export const explainReach = (reach: Reach | null): Pick<Explanation, 'reach'> =>
  reach === null ? {} : { reach: { A: texts(reach.A), B: texts(reach.B), C: texts(reach.C) } };

const texts = (places: Reach['A']): string[] =>
  places.map(({ what, approved }) => (approved === true ? `${what}, after a person approves it` : what));
