/**
 * Expands `agent: { use: … }` to the command, environment and sandbox of a known program, before rules see it. What is
 * known only when a run begins stays a placeholder of its `program`.
 */

import { parseBaseUrl } from '../../../base/net.ts';
import type { ExpandedAgent } from '../../../compiler/config/agents.ts';
import type { Problem } from '../../../compiler/diagnostics/diagnostic.ts';
import type { ExpandAgents } from '../../../compiler/module.ts';
import { present } from '../../../compiler/text/plain-data.ts';
import { didYouMean, oneOf, renameFix } from '../../../compiler/text/suggest.ts';
import type {
  AgentConfig,
  AgentFile,
  EntryValue,
  ProgramPlan,
  SandboxConfig,
} from '../../../schemas/generated/types.ts';
import { fillPlaceholders, textOrJson } from '../fill.ts';
import { loadAgents } from './load-agents.ts';

export const expandAgents: ExpandAgents = (profiles, input, { gateway }, report) => {
  const { agents, findings } = loadAgents(input);
  report.add(findings);
  return profiles.map((profile) => {
    const expand = (config: AgentConfig, path: readonly string[]): ExpandedAgent => {
      const problems: Problem[] = [];
      const complain = (key: string, message: string, more: Partial<Problem> = {}): void => {
        problems.push({ rule: 'agent-use', path: [...path, key], at: 'value', message, ...more });
      };
      const file = agents.get(config.use ?? '');
      if (config.use === undefined) {
        for (const key of SETTINGS)
          if (config[key] !== undefined)
            complain(key, `\`${key}\` needs \`use\`, the name of a program`, { at: 'key' });
      } else if (file === undefined) {
        const fix = { hint: 'for a list: hookwright agent list', ...renameFix(config.use, agents.keys()) };
        complain('use', `there is no agent \`${config.use}\`${didYouMean(config.use, agents.keys())}`, fix);
      } else checkUse(config, file, complain);
      report.addProblems(problems, profile.tree);
      if (file === undefined || problems.length > 0) return config;
      return expandAgent(config.use ?? '', config, file, config.sandbox ?? gateway?.sandbox);
    };
    const { agent, agents: named = {} } = profile.config;
    const entries = Object.entries(named).map(([name, one]) => [name, expand(one, ['agents', name])] as const);
    const first = agent === undefined ? {} : { agent: expand(agent, ['agent']) };
    return { ...profile, config: { ...profile.config, ...first, agents: Object.fromEntries(entries) } };
  });
};

/** What a configuration may set beside `use` alone. */
const SETTINGS = ['model', 'key', 'base_url'] as const;

type Complain = (key: string, message: string, more?: Partial<Problem>) => void;

function checkUse(config: AgentConfig, file: AgentFile, complain: Complain): void {
  for (const key of ['openai', 'answer_path', 'usage_paths'] as const)
    if (config[key] !== undefined) complain(key, `\`${key}\` and \`use\` exclude each other`, { at: 'key' });
  const missing = (file.needs ?? []).filter((key) => config[key] === undefined);
  if (missing.length > 0) complain('use', `${file.title} needs ${oneOf(missing, 'and')} here`);
  const text = JSON.stringify(file);
  for (const key of SETTINGS) {
    const takes = key === 'key' ? file.key !== undefined : text.includes(`{${key}}`);
    if (config[key] !== undefined && !takes) complain(key, `${file.title} takes no \`${key}\``);
  }
  const { base_url: url = file.base_url } = config;
  const key = config.base_url === undefined ? 'use' : 'base_url';
  if (url === undefined) return;
  const parsed = parseBaseUrl(url, { allowHttp: false, secret: false });
  const before = key === 'use' ? `the \`base_url\` of ${file.title}: ` : '';
  if (typeof parsed === 'string') complain(key, `${before}${parsed}`);
  // It becomes part of arguments and of settings in TOML and JSON.
  else if (/["'\\\s{}]/.test(url)) complain(key, `${before}the URL contains a quote, a brace, a backslash or a space`);
}

/** @param walls the sandbox that applies to the agent, as written */
function expandAgent(
  name: string,
  config: AgentConfig,
  file: AgentFile,
  walls: SandboxConfig | undefined,
): ExpandedAgent {
  const { use: _, model, key, base_url: written, command: start, ...rest } = config;
  // Without a key, a program uses its own login, which is in its usual folder.
  const values = { model, base_url: written, ...(key === undefined ? { state: undefined } : {}) };
  const { inside = [], outside = [], ...needs } = file.sandbox ?? {};
  const [program = '', ...args] = file.command.flatMap((part): readonly string[] => {
    if (part === '{sandbox}') return walls === undefined ? outside : inside;
    return fillPlaceholders(typeof part === 'string' ? [part] : part, values) ?? [];
  });
  const words = start ?? [program];
  const host = hostOf(written ?? file.base_url);
  const env = filled(file.env, values);
  const isLater = (variable: string, value: EntryValue): boolean =>
    LATER.test(textOrJson(value)) || Object.hasOwn(file.mcp?.env ?? {}, variable);
  const now = Object.entries(env).filter((entry) => !isLater(...entry));
  const later = Object.entries(env).filter((entry) => isLater(...entry) && config.env?.[entry[0]] === undefined);
  const confined = config.confined ?? file.confined;
  return {
    ...rest,
    command: [...words, ...args],
    env: {
      ...Object.fromEntries(now.map(([variable, value]) => [variable, textOrJson(value)])),
      ...(key === undefined || file.key === undefined ? {} : { [file.key]: keyFor(key, host, walls) }),
      ...config.env,
    },
    ...present({ confined, sandbox: walls === undefined ? undefined : openFor(walls, host, needs) }),
    program: present({
      name,
      version: file.versions === undefined ? undefined : { argv: [...words, '--version'], ...file.versions },
      has_state: key !== undefined,
      key: key === undefined ? undefined : file.key,
      env: Object.fromEntries(later),
      files: key === undefined ? {} : filled(file.files, values),
      commands: file.commands,
      toolsets: file.toolsets,
      output: file.output,
      conversation: file.conversation,
      mcp: file.mcp === undefined ? undefined : mcpOf(file.mcp, values),
    }) as ProgramPlan,
  };
}

/** Placeholders that are filled in when a run begins. */
const LATER = /\{(?:state|tools|toolsets|id)\}/;

type Values = Parameters<typeof fillPlaceholders>[1];

/** Without the entries that have a placeholder without a value. */
function filled(entries: Readonly<Record<string, EntryValue>> = {}, values: Values): Record<string, EntryValue> {
  const all = Object.entries(entries).map(([name, value]) => [name, fillPlaceholders(value, values)] as const);
  return Object.fromEntries(all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

const mcpOf = (mcp: NonNullable<AgentFile['mcp']>, values: Values): NonNullable<ProgramPlan['mcp']> => ({
  arguments: (mcp.arguments ?? []).flatMap((value): EntryValue[] => {
    const text = fillPlaceholders(value, values);
    return text === undefined ? [] : [text];
  }),
  env: filled(mcp.env, values),
  files: filled(mcp.files, values),
});

interface ModelHost {
  /** As a sandbox names it: with its port, if that is not 443. */
  readonly name: string;
  /** A server of this machine without TLS: the sandbox cannot insert a key there. */
  readonly isPlain: boolean;
}

function hostOf(url: string | undefined): ModelHost | null {
  if (url === undefined) return null;
  const { protocol, hostname, port } = new URL(url);
  const isPlain = protocol === 'http:';
  return { name: port === '' && !isPlain ? hostname : `${hostname}:${port === '' ? '80' : port}`, isPlain };
}

type KeyConfig = NonNullable<AgentConfig['env']>[string];

const keyFor = (key: string, host: ModelHost | null, walls: SandboxConfig | undefined): KeyConfig =>
  walls === undefined || host === null || host.isPlain ? key : { secret: key, only_to: [host.name] };

function openFor(
  walls: SandboxConfig,
  host: ModelHost | null,
  needs: NonNullable<AgentFile['sandbox']>,
): SandboxConfig {
  const { network = 'none', read = [], write = [] } = walls;
  const hosts = [...(host === null ? [] : [host.name]), ...(needs.network ?? [])];
  const [first, ...others] = new Set([...(network === 'none' || network === 'any' ? [] : network), ...hosts]);
  return {
    ...walls,
    network: network === 'any' || first === undefined ? network : [first, ...others],
    read: [...read, ...(needs.read ?? [])],
    write: [...write, ...(needs.write ?? [])],
  };
}
