/**
 * Which letters of the Rule of Two a route has: its agent (A) reads text of strangers, (B) reaches secrets, private files or a
 * session of others, (C) changes something or sends to a third party. An agent with all three can be made to give away
 * or change what is not the stranger's.
 */
import { posix } from 'node:path';
import { agentPlan, DEFAULT_PROFILE } from '../../../../base/names.ts';
import { parsePath, printPath } from '../../../../base/paths.ts';
import { readPlaceholders } from '../../../../compiler/config/grammar.ts';
import { deliveryOf, sessionOf } from '../../../../compiler/config/route-keys.ts';
import type { NodePath } from '../../../../compiler/diagnostics/diagnostic.ts';
import { deliverPath, deliveryTargets, STORING_TARGETS } from '../../../../compiler/rules/support/receivers.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { Reach, ReachPlace, RouteView } from '../../../../compiler/views/views.ts';
import { findJobs, runningAgent } from '../../../../compiler/views/views.ts';
import type {
  AgentPlan,
  CommandAgentPlan,
  JobPlan,
  SandboxPlan,
  TargetPlan,
} from '../../../../schemas/generated/types.ts';
import { payloadsOf } from '../payloads/payloads.ts';
import type { UntrustedPart } from './untrusted-texts.ts';
import { actingToolsets, describePart, isFullyConfined, untrustedParts } from './untrusted-texts.ts';

export function reachOf(route: RouteView): Reach {
  const job = jobOf(route);
  const agent = agentOf(route, job);
  const parts = untrustedParts(route);
  const tools = isFullyConfined(route) || agent === null ? [] : toolPlaces(route, job);
  const program = agent?.kind === 'command' ? agent : null;
  return {
    A: parts.map((part) => ({ what: describePart(part).replace(/,$/, ''), way: wayOfPart(part), at: placeOf(part) })),
    B: [...(program === null ? [] : privatePlaces(route, program)), ...tools, ...sessionPlaces(route, agent, parts)],
    C: [...(program === null ? [] : openPlaces(route, program)), ...tools, ...messagePlaces(route, job)],
  };
}

/** The job that the route triggers, if the config has it. */
function jobOf(route: RouteView): JobPlan | null {
  const [job] = route.mode === 'cron' ? findJobs(route, route.config.cron_job ?? '') : [];
  return job === undefined ? null : (route.scope.table.jobs[job.id] ?? null);
}

/** The agent that reads the prompt; null if there is none. */
function agentOf(route: RouteView, job: JobPlan | null): AgentPlan | null {
  const { mode, profilePlan } = route;
  const isRun = mode === 'agent' || (mode === 'cron' && job !== null);
  return isRun && profilePlan !== null ? agentPlan(profilePlan, runningAgent(route)) : null;
}

const placeOf = ({ placeholder, offset }: UntrustedPart): NonNullable<ReachPlace['at']> =>
  placeholder === null ? { path: [] } : { path: ['prompt'], within: { offset, length: placeholder.length } };

const wayOfPart = ({ placeholder, review }: UntrustedPart): string => {
  const [field] = review?.author ?? [];
  if (field !== undefined) return `filter on \`${field}\``;
  return placeholder === null ? 'name the fields that the agent needs in `prompt`' : `leave out \`${placeholder}\``;
};

/** A key of the agent. The files of other profiles are separate, so that there is no position. */
function atAgent(route: RouteView, key: string): Pick<ReachPlace, 'at'> {
  if (route.profile !== DEFAULT_PROFILE) return {};
  const name = runningAgent(route);
  return { at: { path: [...(name === null ? ['agent'] : ['agents', name]), key], root: true } };
}

const SANDBOX = 'give the agent a `sandbox`';

/** What of the gateway's user a program reaches. */
function privatePlaces(route: RouteView, { argv, sandbox, confined, env, only_to }: CommandAgentPlan): ReachPlace[] {
  const program = `\`${argv[0]}\``;
  if (sandbox === null) {
    if (confined === true) return [];
    const what = `${program} has the files and secrets of the gateway's user`;
    return [{ what, way: SANDBOX, ...atAgent(route, 'command') }];
  }
  const opened = [...sandbox.read, ...sandbox.write].filter((path) => isPrivate(path, route));
  const secrets = Object.keys(env).filter((name) => env[name]?.kind !== 'literal' && only_to[name] === undefined);
  return [
    ...opened.map((path) => {
      const what = `the sandbox of ${program} opens \`${path}\``;
      return { what, way: `remove \`${path}\` from \`sandbox\``, ...atAgent(route, 'sandbox') };
    }),
    ...secrets.map((name) => {
      const what = `${program} has the secret \`${name}\``;
      return { what, way: `hide \`${name}\` with \`only_to\``, ...atAgent(route, 'env') };
    }),
  ];
}

/** Folders of users. The user who runs the gateway is unknown here. */
const HOME = /^\/(?:~|root|(?:home|Users)\/[^/]+)(?:\/(.*))?$/s;
/** Folders with keys among the folders that programs have in a home. */
const KEYS =
  /^\.(?:ssh|aws|azure|gnupg|kube|docker|config|netrc|npmrc|pypirc|git-credentials|password-store|mozilla|env)(?:\/|$)/;

/** Whether the path opens a home, the gateway's home or keys. A program's own folder (`~/.tool`, `~/.cache/tool`) is not private. */
function isPrivate(path: string, { scope: { facts } }: RouteView): boolean {
  const written = path.startsWith('~') ? `/${path}` : path;
  const full = posix.join('/', written, '/').slice(0, -1) || '/';
  const home = facts.variable(DEFAULT_PROFILE, 'HOME');
  const isAbove = (folder: string): boolean => `${folder}/`.startsWith(full === '/' ? '/' : `${full}/`);
  if (
    isAbove('/~') ||
    isAbove('/home') ||
    isAbove('/Users') ||
    isAbove(facts.home) ||
    full.startsWith(`${facts.home}/`)
  )
    return true;
  if (/(?:^|\/)\.env(?:[./]|$)/.test(full) || /^\/etc\/(?:shadow|ssl\/private)/.test(full)) return true;
  const own = home !== undefined && (full === home || full.startsWith(`${home}/`)) ? full.slice(home.length + 1) : null;
  const below = own ?? (HOME.test(full) ? (HOME.exec(full)?.[1] ?? '') : null);
  if (below === null) return false;
  return !below.startsWith('.') || KEYS.test(below) || below.split('/')[0] === basename(facts.home);
}

const basename = (path: string): string => posix.basename(path);

/** Servers of models, to which every prompt goes anyway. */
const MODEL_HOST =
  /^(?:localhost|127\.0\.0\.1|\[::1\]|(?:\S+\.)?(?:anthropic\.com|claude\.ai|openai\.com|chatgpt\.com|openai\.azure\.com|mistral\.ai|deepseek\.com|groq\.com|x\.ai|cohere\.com|openrouter\.ai|githubcopilot\.com|ollama\.com|opencode\.ai|together\.xyz|fireworks\.ai|moonshot\.ai|z\.ai)|(?:generativelanguage|aiplatform|cloudcode-pa|play)\.googleapis\.com|(?:dashscope|dashscope-intl)\.aliyuncs\.com|models\.github\.ai|bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com)$/i;

const isModelHost = (entry: string): boolean => MODEL_HOST.test(entry.replace(/:\d+$/, '').replace(/^\*\./, ''));

/** Where a program can send and what it can change. */
function openPlaces(route: RouteView, { argv, sandbox }: CommandAgentPlan): ReachPlace[] {
  if (sandbox === null) {
    const what = `\`${argv[0]}\` runs without a sandbox, and reaches every host`;
    return [{ what, way: SANDBOX, ...atAgent(route, 'command') }];
  }
  const hosts = furtherHosts(sandbox);
  if (hosts.length === 0) return [];
  const what = `the sandbox of \`${argv[0]}\` allows ${sandbox.network === 'any' ? 'every host' : listed(hosts)}`;
  const way = `limit \`network\` to the host of the model`;
  return [{ what, way, ...atAgent(route, 'sandbox') }];
}

const furtherHosts = ({ network }: SandboxPlan): readonly string[] =>
  network === 'any' ? ['*'] : network.filter((host) => !isModelHost(host));

const listed = (names: readonly string[]): string => oneOf(names, 'and');

/** Tools that act can also read files or memory. */
function toolPlaces(route: RouteView, job: JobPlan | null): ReachPlace[] {
  const acting = actingToolsets(route);
  if (acting.length === 0) return [];
  const what = `its toolsets include ${listed(acting)}`;
  const at: Pick<ReachPlace, 'at'> =
    job === null && route.config.toolsets !== undefined ? { at: { path: ['toolsets'] } } : {};
  return [{ what, way: `leave out ${listed(acting)}`, ...at }];
}

/** A session that events of several authors share. A model gets its history; what a program keeps is unknown. */
function sessionPlaces(route: RouteView, agent: AgentPlan | null, parts: readonly UntrustedPart[]): ReachPlace[] {
  const session = sessionOf(route.config);
  if (session === null || route.mode !== 'agent' || (agent?.kind === 'openai' && agent.history === undefined))
    return [];
  const { key, path } = session;
  const bare = parsePath(key);
  const fields = (bare === null ? readPlaceholders(key).map((part) => part.path) : [bare]).map((each) =>
    printPath(each),
  );
  const isOfAuthor = (authors: readonly string[]): boolean => authors.some((field) => fields.includes(field));
  const trusted = payloadsOf(route)?.seenBy(route)?.shape.review;
  const people = ({ review }: UntrustedPart): readonly string[] =>
    (review?.author ?? []).filter((field) => (trusted?.trustedValues(field) ?? null) === null);
  const senders = route.schemes.flatMap(({ author }) => author?.paths.map((path) => printPath(path)) ?? []);
  const own = parts.map((part) => (people(part).length > 0 ? people(part) : senders));
  if (own.length === 0 ? isOfAuthor(senders) : own.every(isOfAuthor)) return [];
  const [author = 'the author'] = own.flat();
  const what = `authors share the session \`${key}\``;
  return [{ what, way: `add \`{${author}}\` to its key, or remove it`, at: { path } }];
}

/** The deliveries and outputs that reach other people than the owner. */
function messagePlaces(route: RouteView, job: JobPlan | null): ReachPlace[] {
  if (route.mode === 'cron') return job === null ? [] : jobMessages(route, job);
  const { config, mode, scope } = route;
  const place = (name: string, isApproved: boolean | undefined, path: NodePath, key: string): ReachPlace => {
    const what =
      path[0] === 'outputs' ? `its output \`${path[1]}\` goes to \`${name}\`` : `its answer goes to \`${name}\``;
    return {
      what,
      way: `add \`approve: true\`${key}`,
      at: { path },
      ...(isApproved === true ? { approved: true } : {}),
    };
  };
  const answers = deliveryTargets(config, scope.table).flatMap(({ name, index, plan, extra }) =>
    isOwners(route, plan, extra.get('chat_id')?.text) ? [] : [place(name, config.approve, deliverPath(index), '')],
  );
  const outputs = Object.entries(mode === 'agent' ? (config.outputs ?? {}) : {}).flatMap(([output, written]) =>
    deliveryTargets(deliveryOf(written), scope.table).flatMap(({ name, plan, extra }) =>
      isOwners(route, plan, extra.get('chat_id')?.text)
        ? []
        : [place(name, written.approve, ['outputs', output, 'deliver'], ` to the output \`${output}\``)],
    ),
  );
  return [...answers, ...outputs];
}

function jobMessages(route: RouteView, { name, deliver, outputs = [] }: JobPlan): ReachPlace[] {
  const all = [...deliver, ...outputs.map(({ delivery }) => delivery)];
  return all.flatMap(({ target, label = target, extra, approve_ms }) => {
    const plan = route.scope.table.targets[target];
    const [segment] = extra.chat_id ?? [];
    const chat = segment?.kind === 'text' ? segment.text : extra.chat_id === undefined ? undefined : '';
    if (plan === undefined || isOwners(route, plan, chat)) return [];
    const what = `the job \`${name}\` sends to \`${label}\``;
    const way = `add \`approve: true\` to the job \`${name}\``;
    return [{ what, way, ...(approve_ms === undefined ? {} : { approved: true as const }) }];
  });
}

/** Whether only the owner reads it: a storing target, or the home channel. A target without chats has no home channel. */
function isOwners({ profilePlan }: RouteView, { name, address }: TargetPlan, chat: string | undefined): boolean {
  if (STORING_TARGETS.has(name)) return true;
  const hasChats = address.some((field) => field.name === 'chat_id');
  return hasChats && (chat === undefined || chat === profilePlan?.targets[name]?.home_channel);
}
