/** The agents of a configuration as written, their toolsets, and the secrets of agents and gateway. */
import type { AgentConfig, GatewayConfig, ProfileConfig, ProgramPlan } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/diagnostic.ts';

/** An agent whose `use` is expanded. */
export interface ExpandedAgent extends AgentConfig {
  readonly program?: ProgramPlan;
}

/** The agents of a profile as written: the default agent under `agent`, and those under `agents`. */
export interface WrittenAgent {
  /** Null: the default agent. */
  readonly name: string | null;
  /** Its path in the config. */
  readonly path: NodePath;
  readonly config: ExpandedAgent;
}

export function writtenAgents({ agent, agents }: ProfileConfig): readonly WrittenAgent[] {
  const named = Object.entries(agents ?? {}).map(([name, config]) => ({ name, path: ['agents', name], config }));
  return agent === undefined ? named : [{ name: null, path: ['agent'], config: agent }, ...named];
}

/** The only toolsets of webhook runs unless the config grants more: payloads are untrusted (§1.5). */
export const DEFAULT_TOOLSETS: readonly string[] = ['web_search', 'web_extract', 'vision_analyze', 'clarify'];

/** Known toolsets; the value says whether webhook runs may use it. */
export type KnownToolsets = Readonly<Record<string, boolean>>;

/** The toolsets for runs of webhook routes. */
export const webhookToolsets = (names: readonly string[], known: KnownToolsets): string[] =>
  unique(names.filter((name) => Object.hasOwn(known, name) && known[name] === true));

/** The toolsets for runs of jobs, whose prompts come from the config. */
export const jobToolsets = (names: readonly string[], known: KnownToolsets): string[] =>
  unique(names.filter((name) => Object.hasOwn(known, name)));

const unique = (names: readonly string[]): string[] => [...new Set(names)];

/** Lists the secrets of the agents of a configuration. */
interface AgentSecret {
  readonly path: NodePath;
  /** A literal or a reference. */
  readonly text: string;
  /** Name of its environment variable or header; null: it is an API key. */
  readonly variable: string | null;
}

export const agentSecrets = (config: ProfileConfig): readonly AgentSecret[] =>
  writtenAgents(config).flatMap(({ path, config: { openai, env } }) => {
    const key = openai?.api_key;
    return [
      ...(key === undefined ? [] : [{ path: [...path, 'openai', 'api_key'], text: key, variable: null }]),
      ...Object.entries(openai?.headers ?? {}).map(([variable, text]) => {
        return { path: [...path, 'openai', 'headers', variable], text, variable };
      }),
      ...Object.entries(env ?? {}).map(([variable, entry]) => {
        const at = [...path, 'env', variable];
        return typeof entry === 'string'
          ? { path: at, text: entry, variable }
          : { path: [...at, 'secret'], text: entry.secret, variable };
      }),
    ];
  });

/** Lists the secrets under `gateway:`. */
interface GatewaySecret {
  readonly path: readonly string[];
  readonly text: string;
  /** A `url` may contain a password; minimum lengths do not apply to it. */
  readonly kind: 'url' | 'key';
}

/** Returns the path and the written text of each secret. */
export function gatewaySecrets(config: GatewayConfig | undefined): readonly GatewaySecret[] {
  const { store, console, heartbeat } = config ?? {};
  const { postgres, key } = typeof store === 'object' ? store : {};
  return [
    { path: ['gateway', 'store', 'postgres'], text: postgres, kind: 'url' as const },
    { path: ['gateway', 'store', 'key'], text: key, kind: 'key' as const },
    { path: ['gateway', 'console', 'token'], text: console?.token, kind: 'key' as const },
    { path: ['gateway', 'console', 'viewer_token'], text: console?.viewer_token, kind: 'key' as const },
    ...Object.entries(console?.users ?? {}).map(([name, { token: text }]) => {
      return { path: ['gateway', 'console', 'users', name, 'token'], text, kind: 'key' as const };
    }),
    { path: ['gateway', 'heartbeat', 'url'], text: heartbeat?.url, kind: 'url' as const },
  ].flatMap(({ text, ...secret }) => (text === undefined ? [] : [{ ...secret, text }]));
}
