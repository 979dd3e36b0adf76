/**
 * Which letters of the Rule of Two a route has: its agent (A) reads text of strangers, (B) reaches secrets, private files or a
 * session of others, (C) changes something or sends to a third party. An agent with all three can be made to give away
 * or change what is not the stranger's.
 */
import { agentPlan, DEFAULT_PROFILE } from '../../../../base/names.ts';
import { parsePath, printPath } from '../../../../base/paths.ts';
import { readPlaceholders } from '../../../../compiler/config/grammar.ts';
import { sessionOf } from '../../../../compiler/config/route-keys.ts';
import { lowerDeliver, lowerOutputs, lowerReceiver } from '../../../../compiler/lower/route.ts';
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
function privatePlaces(route: RouteView, plan: CommandAgentPlan): ReachPlace[] {
  const { argv, cwd, sandbox, confined, env, only_to } = plan;
  const program = `\`${argv[0]}\``;
  if (sandbox === null) {
    if (confined === true) return [];
    const what = `${program} has the files and secrets of the gateway's user`;
    return [{ what, way: SANDBOX, ...atAgent(route, 'command') }];
  }
  const isScript = (path: string): boolean => argv[0] === path || (argv.includes(path) && SCRIPT.test(path));
  const opened = [...sandbox.read, ...sandbox.write].filter((path) => !isScript(path) && isPrivate(path, route));
  const secrets = Object.keys(env).filter((name) => env[name]?.kind !== 'literal' && only_to[name] === undefined);
  const opens = opened.map((path) => [`opens \`${path}\``, `remove \`${path}\` from \`sandbox\``, 'sandbox'] as const);
  const has = secrets.map(
    (name) => [`has the secret \`${name}\``, `hide \`${name}\` with \`only_to\``, 'env'] as const,
  );
  const works =
    cwd !== null && /^[~/]/.test(cwd) && isPrivate(cwd, route)
      ? [[`works in \`${cwd}\``, 'remove `cwd`: each run then has a private folder', 'cwd'] as const]
      : [];
  return [...opens, ...works, ...has].map(([what, way, key]) => ({
    what: `${program} ${what}`,
    way,
    ...atAgent(route, key),
  }));
}

/** A script that the program is. */
const SCRIPT = /[^/]\.(?:[cm]?[jt]s|py|rb|pl|php|lua|jar|r|(?:ba|z|fi)?sh)$/i;

/** A program's own folder in a home. */
const OWN_FOLDER = /^\/(?:~|root|(?:home|Users)\/[^/]+)\/\.(?!(?:config|env)\/|(?:local|local\/share|cache)\/$)/;
/** Names, or parts of them, of files and folders with keys, or with what a person did. */
const KEYS =
  /\/\.(?:ssh|aws|azure|gnupg|gpg|kube|docker|netrc|npmrc|pypirc|mozilla|thunderbird|boto|s3cfg|rclone|terraform|my\.cnf|gem)|\/[^/]*(?:pass|token|secret|credential|keyring|keychain|wallet|cookies|history)|_rsa|\.pem/i;

/** Whether the path opens files of people, of the gateway or with keys: what sandboxes hide, but for a program's own folder. */
function isPrivate(path: string, { scope: { facts } }: RouteView): boolean {
  const [folder, home] = [folderOf(path, facts), folderOf(facts.home, facts)];
  return (
    folder.startsWith(home) || (opensHidden(folder, facts.home, []) && (KEYS.test(folder) || !OWN_FOLDER.test(folder)))
  );
}

/** Servers of models, to which every prompt goes anyway. */
const MODEL_HOST =
  /^(?:(?:\S+\.)?(?:anthropic\.com|claude\.ai|openai\.com|chatgpt\.com|openai\.azure\.com|mistral\.ai|deepseek\.com|groq\.com|x\.ai|cohere\.com|openrouter\.ai|githubcopilot\.com|ollama\.com|opencode\.ai|together\.xyz|fireworks\.ai|moonshot\.ai|z\.ai)|(?:generativelanguage|aiplatform|cloudcode-pa|play)\.googleapis\.com|(?:dashscope|dashscope-intl)\.aliyuncs\.com|models\.github\.ai|bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com)$/i;

/** Usual ports of servers of models on this machine: Ollama, LM Studio, vLLM, llama.cpp, LiteLLM, SGLang. */
const LOCAL_MODEL = /^(?:localhost|127\.0\.0\.1|\[::1\]):(?:11434|1234|8000|8080|4000|30000)$/i;

/** Whether it is the server that the `base_url` of a known program names. */
function isOwnModel(host: string, { argv, env, program }: CommandAgentPlan): boolean {
  const values = Object.values(env).flatMap((ref) => (ref.kind === 'literal' ? [ref.value] : []));
  const text = program === undefined ? '' : JSON.stringify([argv, values, program.env, program.files]);
  return ['/', ':', '"', '\\'].some((end) => text.includes(`//${host}${end}`));
}

const isModelHost = (entry: string, plan: CommandAgentPlan): boolean =>
  MODEL_HOST.test(entry.replace(/:\d+$/, '').replace(/^\*\./, '')) ||
  LOCAL_MODEL.test(entry) ||
  isOwnModel(entry, plan);

/** Where a program can send and what it can change. */
function openPlaces(route: RouteView, plan: CommandAgentPlan): ReachPlace[] {
  const { argv, sandbox } = plan;
  if (sandbox === null) {
    const what = `\`${argv[0]}\` runs without a sandbox, and reaches every host`;
    return [{ what, way: SANDBOX, ...atAgent(route, 'command') }];
  }
  const { network } = sandbox;
  const hosts = network === 'any' ? ['every host'] : network.filter((host) => !isModelHost(host, plan));
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

/** It has the last line that the program wrote. */
const REASON = 'the reason of a failed run';

/** The deliveries and outputs that reach other people than the owner. */
function messagePlaces(route: RouteView, job: JobPlan | null): ReachPlace[] {
  const { config, mode, scope } = route;
  const own = {
    deliver: lowerDeliver(config, scope.table).plan,
    on_failure: mode === 'agent' ? lowerReceiver(config.on_failure, scope.table).plan : [],
    ...lowerOutputs(mode === 'agent' ? config.outputs : {}, scope.table).plan,
  };
  const { deliver = [], on_failure = [], outputs = [] } = mode === 'cron' ? (job ?? {}) : own;
  return [
    ...deliver.map((delivery) => ({ delivery, what: 'its answer', path: ['deliver'] })),
    ...on_failure.map((delivery) => ({ delivery, what: REASON, path: ['on_failure'] })),
    ...outputs.map(({ name, delivery }) => {
      return { delivery, what: `its output \`${name}\``, path: ['outputs', name, 'deliver'] };
    }),
  ].flatMap(({ delivery: { target, label = target, extra, approve_ms }, what, path }) => {
    if (isOwners(route, target, extra.chat_id)) return [];
    const isReason = what === REASON;
    const way = isReason
      ? 'report failures to the owner'
      : `approve ${what.replace('its', 'each')} (\`approve: true\`)`;
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
