/** Rules about text that strangers may write: where it goes, and what it can cause. */

import { agentPlan, agentToolsets } from '../../../../base/names.ts';
import { printPath } from '../../../../base/paths.ts';
import { DEFAULT_TOOLSETS, webhookToolsets } from '../../../../compiler/config/agents.ts';
import { deliverPath, deliveryTargets } from '../../../../compiler/rules/support/receivers.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { MachineFacts, Reported, RouteView } from '../../../../compiler/views/views.ts';
import { findJobs } from '../../../../compiler/views/views.ts';
import type { AgentConfig, TargetEffect } from '../../../../schemas/generated/types.ts';
import { payloadsOf } from '../payloads/payloads.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { isForm } from '../shapes/form-set.ts';
import type { WrittenLeaf } from '../shapes/operators.ts';
import { factsOf, listedValues } from '../shapes/operators.ts';
import type { StartedAgent } from '../untrusted/expanding-programs.ts';
import { programThatExpands, programWithCommands } from '../untrusted/expanding-programs.ts';
import { folderOf, opensHidden } from '../untrusted/hidden-folders.ts';
import type { Filters, UntrustedPart } from '../untrusted/untrusted-texts.ts';
import {
  actingToolsets,
  describePart,
  isFullyConfined,
  isWholePayload,
  nameRoutes,
  reachedRoutes,
  requires,
  unacceptedRoutes,
  untrustedParts,
} from '../untrusted/untrusted-texts.ts';

/** An unconfined program that receives untrusted text (decisions §5). */
export const agentUnconfined = rule('agent-unconfined', {
  agent({ agent: { path, config: agent }, routes }, report) {
    if (agent.command === undefined || agent.confined !== undefined || receivesToolsets(agent.command)) return;
    const reached = unacceptedRoutes(routes());
    const [first] = reached;
    if (first === undefined || agent.sandbox !== undefined || first.route.scope.table.gateway.sandbox !== null) return;
    const message = `${describePart(first.part)} of ${nameRoutes(reached)} reaches \`${agent.command[0]}\`, and nothing limits what it can do`;
    const hint =
      'add a `sandbox`, pass `{toolsets}` if the program accepts them, or state what limits it: `confined: <a container, another user, no tools>`';
    report({ path: [...path, 'command'], at: 'value', message, hint });
  },
});

/** Also true if the command reads the variable, because placeholders in code are rejected. Shell comments do not count. */
const receivesToolsets = (command: readonly string[]): boolean =>
  command.some((argument) => /\{toolsets\}|HOOKWRIGHT_TOOLSETS/.test(argument.replace(/(?:^|\s)#.*$/gm, '')));

/** `confined`, toolsets and `accept_untrusted` do not matter here, because they concern the agent's actions, and this happens before any. */
export const agentExpandsText = rule('agent-expands-text', {
  agent({ agent: { path, config }, routes }, report) {
    const start = programThatExpands(config);
    const reached = start === null ? [] : reachedRoutes(routes());
    const [first] = reached;
    if (start === null || first === undefined) return;
    const { program, getsVariables } = start;
    const { table, facts } = first.route.scope;
    const sandbox = config.sandbox ?? table.gateway.sandbox;
    // The folder that such a program reads is also open in a sandbox.
    const walls = program.reads === 'anywhere' ? missingWalls(config, sandbox, facts, program.own_folders) : '';
    if (walls === null) return;
    const from = program.reads === 'anywhere' ? 'any file' : 'a file in its folder';
    const message = `${describePart(first.part)} of ${nameRoutes(reached)} reaches ${program.name}, which sends ${from} that the text names as \`@path\` to the model, even without tools`;
    const hint = `${getsVariables ? program.remedy : program.remedy_inside}${walls}`;
    report({ path: [...path, 'command'], at: 'value', message, hint });
  },
  route(route, report) {
    const program = programWithCommands(agentOf(route));
    if (program === null || isMarked(route)) return;
    const { prompt = '' } = route.config;
    const parts = untrustedParts(route);
    const first = prompt.startsWith('/') ? parts[0] : parts.find((part) => part.offset === 0 && !isWholePayload(part));
    if (first === undefined) return;
    const begins = prompt.startsWith('/') ? '`/`, which is followed by ' : '';
    const message = `the prompt begins with ${begins}${describePart(first)}, and ${program.name} runs a prompt that begins with \`/\` as a built-in command`;
    const within = { offset: 0, length: first.offset + (first.placeholder?.length ?? 0) };
    report({ path: ['prompt'], at: 'value', within, message, hint: 'put fixed words first' });
  },
});

/** The notice and the markers come before the text. A skill may be missing or empty, so skills do not count. */
const isMarked = ({ config, scope }: RouteView): boolean =>
  (config.untrusted ?? scope.table.gateway.untrusted) === 'mark';

function agentOf({ mode, config, profilePlan }: RouteView): StartedAgent {
  const agent = mode !== 'agent' || profilePlan === null ? null : agentPlan(profilePlan, config.agent ?? null);
  // The program of the catalog gets a line before such a prompt.
  return agent?.kind === 'command' && agent.program?.commands === undefined ? { command: agent.argv } : {};
}

/**
 * Returns null if the sandbox opens nothing that sandboxes hide, except the program's own settings. Sandboxes hide the homes
 * of users and of the gateway with their contents, temporary folders, `/run` and `.env`.
 */
function missingWalls(
  { cwd }: AgentConfig,
  sandbox: { readonly read?: readonly string[]; readonly write?: readonly string[] } | null,
  facts: MachineFacts,
  ownFolders: readonly string[],
): string | null {
  if (sandbox === null) return '; best in a `sandbox` as well';
  const paths = [...(sandbox.read ?? []), ...(sandbox.write ?? []), ...(cwd === undefined ? [] : [cwd])];
  const opened = paths.find((path) => opensHidden(folderOf(path, facts), facts.home, ownFolders));
  return opened === undefined ? null : `; its \`sandbox\` does not prevent it, because it opens \`${opened}\``;
}

/** The reader of files that a run leaves, by its work folder. */
const READERS = { route: "the route's next run", shared: 'the next run of any route' } as const;

/** A work folder that later runs read, of an agent that receives untrusted text (decisions §5). */
export const keptWorkFolder = rule('kept-work-folder', {
  agent({ agent: { path, config }, routes }, report) {
    const { command, work = 'run', cwd } = config;
    if (command === undefined || cwd !== undefined || work === 'run') return;
    const reached = unacceptedRoutes(routes());
    const [first] = reached;
    if (first === undefined) return;
    const message = `${describePart(first.part)} of ${nameRoutes(reached)} reaches an agent whose work folder is kept: the text can make the agent write files, and ${READERS[work]} reads them`;
    const hint = 'remove `work`, so that each run has a new folder, or filter on the author of the text';
    report({ path: [...path, 'work'], at: 'value', message, hint });
  },
});

/** A whole payload in the prompt of an agent with powerful tools (§5.5). */
export const rawPayload = rule('raw-payload', {
  route(route, report) {
    if (route.mode !== 'agent') return;
    const { config, profilePlan } = route;
    const names = agentToolsets(config.toolsets ?? profilePlan?.toolsets ?? [], profilePlan, config.agent ?? null);
    const wide = webhookToolsets(names, route.scope.table.toolsets).filter((name) => !DEFAULT_TOOLSETS.includes(name));
    if (wide.length === 0 || isReportedInDetail(route)) return;
    const tools = `the agent may use ${oneOf(wide, 'and')}`;
    const hint = 'name the fields the agent needs: `{pull_request.title}`';
    const { prompt } = route.config;
    if (prompt === undefined) {
      report({ path: [], at: 'key', message: `the default prompt shows the whole payload, and ${tools}`, hint });
      return;
    }
    const offset = prompt.indexOf(DUMP);
    if (offset < 0) return;
    const message = `\`${DUMP}\` shows the whole payload, and ${tools}`;
    const within = { offset, length: DUMP.length };
    report({ path: ['prompt'], at: 'value', within, message, hint });
  },
});

const DUMP = '{__raw__}';

/** Whether `untrusted-input` reports this route in more detail. */
const isReportedInDetail = (route: RouteView): boolean =>
  route.config.accept_untrusted === undefined && actingToolsets(route).length > 0;

/** A route that is triggered by its own deliveries. */
export const selfTrigger = rule('self-trigger', {
  route(route, report) {
    const payloads = payloadsOf(route);
    if (payloads === null || route.config.enabled === false) return;
    for (const { target, name, index } of targetsOf(route)) {
      const effect = payloads.causedBy(target).find((each) => triggersRoute(route, each, index));
      if (effect !== undefined) report(problem(route, name, index, effect));
    }
  },
});

interface NamedTarget {
  readonly target: string;
  readonly name: string;
  /** Undefined for a target of the job that the route triggers. */
  readonly index?: number | null;
}

function targetsOf(route: RouteView): readonly NamedTarget[] {
  const { jobs } = route.scope.table;
  if (route.mode === 'cron')
    return findJobs(route, route.config.cron_job ?? '').flatMap(({ id }) =>
      (jobs[id]?.deliver ?? []).map(({ target }) => ({ target, name: target })),
    );
  return route.targets.flatMap(({ target, name, index }) => (target === null ? [] : [{ target, name, index }]));
}

function triggersRoute(route: RouteView, effect: TargetEffect, index: number | null | undefined): boolean {
  const payloads = payloadsOf(route);
  if (payloads === null || !payloads.mayReceive(route, effect)) return false;
  const set = payloads.seenBy(route);
  const forms = set?.pick(set.forms.flatMap((form, at) => (isForm(form, effect) ? [at] : []))) ?? null;
  return !rejectsOwnEvents(route.config.filters ?? [], forms, effect, placeOf(route, effect, index));
}

/** The destination of the delivery, if it is the same for every event. */
function placeOf(
  { config, scope }: RouteView,
  { place }: TargetEffect,
  index: number | null | undefined,
): string | null {
  if (place === undefined || index === undefined) return null;
  const target = deliveryTargets(config, scope.table).find((each) => each.index === index);
  const text = target?.extra.get(place.extra)?.text;
  return text === undefined || text.includes('{') ? null : text;
}

function problem(route: RouteView, name: string, index: number | null | undefined, effect: TargetEffect): Reported {
  const event = effect.events.map((each) => `\`${each}\``).join(', ');
  const whose = index === undefined ? `the job \`${route.config.cron_job}\`` : 'the route';
  const message = `${whose} triggers itself: its delivery to \`${name}\` causes ${event}, which the route accepts`;
  const hint = `exclude them: \`${filterFor(effect)}\``;
  if (index === undefined) return { path: [], at: 'key', message, hint };
  return { path: deliverPath(index), at: 'value', message, hint };
}

function filterFor({ author: [field = ''], absent: [absent] = [] }: TargetEffect): string {
  if (absent !== undefined) return `{ field: ${absent}, exists: true }`;
  return `{ field: ${field}, not_equals: <the account it posts as> }`;
}

/** Untrusted text in the prompt of an agent with acting toolsets (§1.5, §5.5). */
export const untrustedInput = rule('untrusted-input', {
  route(route, report) {
    if (route.config.accept_untrusted !== undefined || isFullyConfined(route)) return;
    const acting = actingToolsets(route);
    const parts = acting.length === 0 ? [] : untrustedParts(route);
    // A repeated placeholder is one field.
    const [first, ...more] = [...new Map(parts.map((part) => [part.placeholder, part])).values()];
    if (first !== undefined) report(untrustedProblem(route, first, more, acting));
  },
});

/** Names the whole path: the field and its author, the prompt, the agent with its toolsets, and the target. */
function untrustedProblem(
  route: RouteView,
  part: UntrustedPart,
  more: readonly UntrustedPart[],
  acting: readonly string[],
): Reported {
  const { placeholder } = part;
  const isJob = route.mode === 'cron';
  const agent = isJob ? `the agent of the job \`${route.config.cron_job}\`` : 'an agent';
  const targets = oneOf(
    route.targets.map(({ name }) => name),
    'and',
  );
  const goes = `go${more.length === 0 ? 'es' : ''} into the prompt of ${agent} with ${oneOf(acting, 'and')}${unknownOf(route, acting)}`;
  const answer = isJob ? '' : `, whose answer goes to ${targets}`;
  const names = more.map((other) => `\`${other.placeholder ?? ''}\``);
  const last = names.length === 0 ? '' : ` and ${names.pop()}`;
  const fields = [describePart(part), ...names].join(', ') + last;
  const message = `${fields} ${goes}${answer}: a stranger's text can steer the agent`;
  const hint = adviceFor(route, part, acting);
  if (placeholder === null) return { path: [], at: 'key', message, hint };
  const related = more.map((other) => ({
    path: ['prompt'],
    within: withinPrompt(other),
    message: `also ${describePart(other)}`,
  }));
  return { path: ['prompt'], at: 'value', within: withinPrompt(part), message, hint, related };
}

const withinPrompt = ({ placeholder, offset }: UntrustedPart) => ({ offset, length: placeholder?.length ?? 0 });

/** Another rule reports that unknown toolsets are dropped. */
function unknownOf({ scope }: RouteView, acting: readonly string[]): string {
  const unknown = acting.filter((name) => !Object.hasOwn(scope.table.toolsets, name));
  if (unknown.length === 0) return '';
  const which = unknown.length === acting.length ? '' : `${oneOf(unknown, 'and')} `;
  return ` (${which}not in the catalog, therefore dropped, but treated as acting)`;
}

function adviceFor({ config, scope }: RouteView, part: UntrustedPart, acting: readonly string[]): string {
  const [field] = part.review?.author ?? [];
  const isMarked = (config.untrusted ?? scope.table.gateway.untrusted) === 'mark';
  const ways = [
    ...(isWholePayload(part) ? ['name the fields the agent needs'] : []),
    ...(field === undefined ? [] : [`filter on its author: ${exampleFilter(field)}`]),
    `leave out ${oneOf(acting, 'and')}`,
    `or state why it is safe: \`accept_untrusted: <reason>\`${isMarked ? '' : ', best with `untrusted: mark`'}`,
  ];
  return ways.join('; ');
}

const exampleFilter = (field: string): string =>
  field.endsWith('author_association')
    ? `\`{ field: ${field}, in: [OWNER, MEMBER, COLLABORATOR] }\``
    : `\`{ field: ${field}, in: [<people you trust>] }\``;

/**
 * Whether the route's filters reject the events that its own delivery causes.
 * @param forms event forms that the delivery causes; null if unknown
 * @param place channel or repository that the delivery goes to; null if unknown at compile time
 */
export function rejectsOwnEvents(
  filters: Filters,
  forms: FormSet | null,
  effect: TargetEffect,
  place: string | null,
): boolean {
  return requires(filters, forms, (leaf, negated) => {
    if (leaf.field.in === 'header') return false;
    const path = printPath(leaf.field.path);
    if (isBelow(path, effect.absent ?? [])) return !holds(leaf, null, negated);
    if (path === effect.place?.field) return place !== null && isElsewhere(leaf, negated, place);
    const mark = effect.marks?.[path];
    if (mark !== undefined) return !holds(leaf, mark, negated);
    if (effect.author.includes(path)) return isOthers(leaf, negated);
    return !negated && effect.text.includes(path) && beginsOtherwise(leaf);
  });
}

const isBelow = (path: string, fields: readonly string[]): boolean =>
  fields.some((field) => path === field || path.startsWith(`${field}.`));

/** @param found value of the field; null if absent */
function holds({ operator, value }: WrittenLeaf, found: string | null, negated: boolean): boolean {
  return factsOf(operator).holds(value, found) !== negated;
}

/** Whether the condition accepts only other channels or repositories. Names are not compared with ids. */
function isElsewhere(leaf: WrittenLeaf, negated: boolean, place: string): boolean {
  const values = listedValues(leaf, negated) ?? [];
  const isName = (text: string): boolean => /^[#@]/.test(text);
  return values.length > 0 && values.map(String).every((each) => each !== place && isName(each) === isName(place));
}

/** The config does not say which account posts deliveries. A list of bots is assumed to include it, a list of people is not. */
function isOthers(leaf: WrittenLeaf, negated: boolean): boolean {
  if (leaf.operator === 'exists' || leaf.operator === 'missing') return !holds(leaf, 'someone', negated);
  const isPositive = negated === (leaf.operator === 'not_equals');
  const listed = isPositive ? (listedValues(leaf, negated) ?? []) : [];
  return !listed.some((each) => BOT.test(String(each)));
}

/** Account names of bots, except two public bots that cannot be the user's own. */
const BOT = /^(?!dependabot|renovate).*(?:bot|\[bot\])$/i;

/** Whether the condition tests the whole text or its start, which differs in an answer that quotes it. */
const beginsOtherwise = ({ operator, value }: WrittenLeaf): boolean => factsOf(operator).fixesStart(value);
