/**
 * Which letters of the Rule of Two a route has: its agent (A) reads text of strangers, (B) reaches secrets, private files or a
 * session of others, (C) changes something or sends to a third party. An agent with all three can be made to give away
 * or change what is not the stranger's.
 */
import { agentPlan, DEFAULT_PROFILE } from '../../../../base/names.ts';
import { parsePath, printPath } from '../../../../base/paths.ts';
import { readPlaceholders } from '../../../../compiler/config/grammar.ts';
import { sessionOf } from '../../../../compiler/config/route-keys.ts';
import { lowerDeliver, lowerOutputs } from '../../../../compiler/lower/route.ts';
import { STORING_TARGETS } from '../../../../compiler/rules/support/receivers.ts';
import { oneOf } from '../../../../compiler/text/suggest.ts';
import type { Reach, ReachPlace, RouteView } from '../../../../compiler/views/views.ts';
import { findJobs, runningAgent } from '../../../../compiler/views/views.ts';
import type { AgentPlan, CommandAgentPlan, JobPlan, TemplatePlan } from '../../../../schemas/generated/types.ts';
import { folderOf, opensHidden } from './hidden-folders.ts';
import type { UntrustedPart } from './untrusted-texts.ts';
import { actingToolsets, describePart, isFullyConfined, untrustedParts } from './untrusted-texts.ts';

export function reachOf(route: RouteView): Reach {
  const job = jobOf(route);
  const isRun = route.mode === 'agent' || job !== null;
  const agent = isRun && route.profilePlan !== null ? agentPlan(route.profilePlan, runningAgent(route)) : null;
  const parts = untrustedParts(route);
  const tools = isFullyConfined(route) || agent === null ? [] : toolPlaces(route, job);
  const program = agent?.kind === 'command' ? agent : null;
  return {
    A: parts.map(textPlace),
    B: [...(program === null ? [] : privatePlaces(route, program)), ...tools, ...sessionPlaces(route, agent, parts)],
    C: [...(program === null ? [] : openPlaces(route, program)), ...tools, ...messagePlaces(route, job)],
  };
}

/** The job that the route triggers, if the config has it. */
function jobOf(route: RouteView): JobPlan | null {
  const [job] = route.mode === 'cron' ? findJobs(route, route.config.cron_job ?? '') : [];
  return job === undefined ? null : (route.scope.table.jobs[job.id] ?? null);
}

function textPlace(part: UntrustedPart): ReachPlace {
  const { placeholder, offset, review } = part;
  const what = describePart(part).replace(/,$/, '');
  const [field] = review?.author ?? [];
  const leaveOut = placeholder === null ? 'name the fields that the agent needs' : `leave out \`${placeholder}\``;
  const way = field === undefined ? leaveOut : `filter on \`${field}\``;
  if (placeholder === null) return { what, way, at: { path: [] } };
  return { what, way, at: { path: ['prompt'], within: { offset, length: placeholder.length } } };
}

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
  const opened = [...sandbox.read, ...sandbox.write].filter((path) => !argv.includes(path) && isPrivate(path, route));
  const secrets = Object.keys(env).filter((name) => env[name]?.kind !== 'literal' && only_to[name] === undefined);
  const opens = opened.map((path) => [`opens \`${path}\``, `remove \`${path}\` from \`sandbox\``, 'sandbox'] as const);
  const has = secrets.map(
    (name) => [`has the secret \`${name}\``, `hide \`${name}\` with \`only_to\``, 'env'] as const,
  );
  return [...opens, ...has].map(([what, way, key]) => ({ what: `${program} ${what}`, way, ...atAgent(route, key) }));
}

/** A program's own folder in a home, without those that hold keys. */
const OWN_FOLDER =
  /^\/(?:~|root|(?:home|Users)\/[^/]+)\/\.(?!(?:ssh|aws|azure|gnupg|kube|docker|config|netrc|npmrc|pypirc|git-credentials|password-store|mozilla|env)\/)/;

/** Whether the path opens files of people, of the gateway or with keys: what sandboxes hide, but for a program's own folder. */
function isPrivate(path: string, { scope: { facts } }: RouteView): boolean {
  const [folder, home] = [folderOf(path, facts), folderOf(facts.home, facts)];
  return folder.startsWith(home) || (opensHidden(folder, facts.home, []) && !OWN_FOLDER.test(folder));
}

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
  const { network } = sandbox;
  const hosts = network === 'any' ? ['every host'] : network.filter((host) => !isModelHost(host));
  if (hosts.length === 0) return [];
  const what = `the sandbox of \`${argv[0]}\` allows ${oneOf(hosts, 'and')}`;
  return [{ what, way: 'limit `network` to the host of the model', ...atAgent(route, 'sandbox') }];
}

/** Tools that act can also read files or memory. */
function toolPlaces(route: RouteView, job: JobPlan | null): ReachPlace[] {
  const acting = actingToolsets(route);
  if (acting.length === 0) return [];
  const what = `its toolsets include ${oneOf(acting, 'and')}`;
  const at = job === null && route.config.toolsets !== undefined ? { at: { path: ['toolsets'] } } : {};
  return [{ what, way: `leave out ${oneOf(acting, 'and')}`, ...at }];
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
  const people = ({ review }: UntrustedPart): readonly string[] =>
    (review?.author ?? []).filter((field) => !field.endsWith('_association'));
  const senders = route.schemes.flatMap(({ author }) => author?.paths.map((path) => printPath(path)) ?? []);
  const own = parts.map((part) => (people(part).length > 0 ? people(part) : senders));
  if (own.length === 0 ? isOfAuthor(senders) : own.every(isOfAuthor)) return [];
  const [author = 'the author'] = own.flat();
  const what = `authors share the session \`${key}\``;
  return [{ what, way: `add \`{${author}}\` to its key, or remove it`, at: { path } }];
}

/** The deliveries and outputs that reach other people than the owner. */
function messagePlaces(route: RouteView, job: JobPlan | null): ReachPlace[] {
  const { config, mode, scope } = route;
  const { plan: answers } = lowerDeliver(config, scope.table);
  const own = { deliver: answers ?? [], ...lowerOutputs(mode === 'agent' ? config.outputs : {}, scope.table).plan };
  const { deliver = [], outputs = [] } = mode === 'cron' ? (job ?? {}) : own;
  return [
    ...deliver.map((delivery) => ({ delivery, what: 'its answer', path: ['deliver'] })),
    ...outputs.map(({ name, delivery }) => {
      return { delivery, what: `its output \`${name}\``, path: ['outputs', name, 'deliver'] };
    }),
  ].flatMap(({ delivery: { target, label = target, extra, approve_ms }, what, path }) => {
    if (isOwners(route, target, extra.chat_id)) return [];
    const way = `approve ${what.replace('its', 'each')} (\`approve: true\`)`;
    const approved = approve_ms === undefined ? {} : { approved: true as const };
    return [{ what: `${what} goes to \`${label}\``, way, ...(job === null ? { at: { path } } : {}), ...approved }];
  });
}

/** Whether only the owner reads it: a storing target, or the home channel. A target without chats has no home channel. */
function isOwners({ profilePlan, scope }: RouteView, target: string, chat: TemplatePlan | undefined): boolean {
  const { address } = scope.table.targets[target] ?? {};
  if (STORING_TARGETS.has(target) || address === undefined) return true;
  const hasChats = address.some((field) => field.name === 'chat_id');
  const [first, ...more] = chat ?? [];
  const isHome =
    first?.kind === 'text' && more.length === 0 && first.text === profilePlan?.targets[target]?.home_channel;
  return hasChats && (chat === undefined || isHome);
}
