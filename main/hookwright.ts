/** `hookwright`: compiles a config and serves it inside another program, in one call. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CliContext } from '../cli/base/context.ts';
import type { Module } from '../cli/base/module.ts';
import { runtimeParts } from '../cli/base/module.ts';
import type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts';
import { nodeFiles } from '../compiler/node/node-files.ts';
import { printDiagnostics } from '../compiler/print/print.ts';
import { projectEnvPath } from '../compiler/source/search-config.ts';
import type { Service, ServiceOptions } from '../runtime/service/options.ts';
import { createService, publicService } from '../runtime/service/service.ts';
import type { ConfigInput } from './compile.ts';
import { compiledOf, compileWith, machineOf } from './compile.ts';
import { MODULES } from './modules.ts';
import { programOf } from './program.ts';

export type { Diagnostic } from '../compiler/diagnostics/diagnostic.ts';
export type { AgentRequest, RunAgent } from '../runtime/dispatch/agent-runner.ts';
export { AgentError } from '../runtime/dispatch/agent-runner.ts';
export type { EmitOptions, Emitted } from '../runtime/intake/emit.ts';
export type { NodeListener } from '../runtime/intake/node-request.ts';
export type { FinishedDispatch, Service, ServiceEvents } from '../runtime/service/options.ts';
export { StoreRefused } from '../runtime/store/contract.ts';
export { TableError } from '../runtime/table/table-source.ts';

/**
 * Options of `hookwright`: a config, and the options of `createService` except its table. Only `config` is required.
 *
 * @example
 * ```ts
 * import type { HookwrightOptions } from 'hookwright';
 *
 * const options: HookwrightOptions = { config: 'hooks.yaml', home: '/var/lib/app', agent: ({ prompt }) => prompt };
 * ```
 */
export interface HookwrightOptions extends Omit<ServiceOptions, 'table' | 'home' | 'blueprints'> {
  /**
   * The config: a path or a `file:` URL, a YAML text, or an object with the keys of the YAML. A string with a line break is a
   * YAML text; any other string is a path.
   */
  readonly config: string | URL | object;
  /**
   * `<home_dir>`, with store, secrets, scripts and skills. Default: `$HOOKWRIGHT_HOME`, else `~/.hookwright`; with
   * `store: ':memory:'` a temporary folder, which `stop` removes.
   */
  readonly home?: string | undefined;
  /** Base of relative paths. Default: the working directory. */
  readonly cwd?: string | undefined;
  /** Modules of `hookwright/modules`. A config that needs any other module is rejected. Default: all. */
  readonly modules?: readonly HookwrightModule[] | undefined;
}

/**
 * A module of the program, as `hookwright/modules` exports it.
 *
 * @example
 * ```ts
 * import type { HookwrightModule } from 'hookwright';
 * import { guard, outputs } from 'hookwright/modules';
 *
 * const modules: readonly HookwrightModule[] = [guard, outputs];
 * ```
 */
export interface HookwrightModule {
  /** Name of the module. */
  readonly name: string;
}

/**
 * A running set of webhooks. Its functions are bound, so they can be passed alone: `app.use(hooks.node)`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import type { Hooks } from 'hookwright';
 *
 * const serve = ({ node }: Hooks) => createServer(node);
 * ```
 */
export interface Hooks extends Pick<Service, 'node' | 'emit' | 'on' | 'stop'> {
  /** Answers a fetch `Request`. @param from the peer's address; a route without a signature accepts only this machine */
  readonly fetch: Service['handle'];
  /** The warnings of the config; `printDiagnostics` of `hookwright/compiler` prints them. */
  readonly diagnostics: readonly Diagnostic[];
  /** For everything else: `listen`, `status`, `swap`, `metrics`. */
  readonly service: Service;
}

/**
 * The config has errors. The message shows each of them with its line.
 *
 * @example
 * ```ts
 * import { ConfigError, hookwright } from 'hookwright';
 *
 * const error = await hookwright({ config: { platfroms: {} }, store: ':memory:' }).catch((reason: unknown) => reason);
 * if (error instanceof ConfigError) console.log(error.diagnostics.map(({ rule }) => rule)); // unknown-key
 * ```
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** Errors and warnings, by file and position. */
  readonly diagnostics: readonly Diagnostic[];

  /** @param diagnostics of a compile */
  constructor(diagnostics: readonly Diagnostic[]) {
    super(`the config has errors\n${printed(diagnostics)}`);
    this.diagnostics = diagnostics;
  }
}

/**
 * Compiles a config and starts to work: jobs fire, and unfinished work of an earlier process resumes.
 *
 * @param options the config; everything else has a default
 * @returns a promise of the webhooks. It rejects with ConfigError, which has the diagnostics; with TableError when
 * something that the config needs is missing, such as a secret; and with StoreRefused when the store cannot be used.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { hookwright } from 'hookwright';
 *
 * const hooks = await hookwright({
 *   config: {
 *     platforms: { webhook: { enabled: true, secret: 'env:SECRET', routes: { issues: { prompt: 'Triage: {title}' } } } },
 *   },
 *   env: { SECRET: 'at-least-16-bytes-long' },
 *   store: ':memory:',
 *   agent: ({ prompt }) => `answer to ${prompt}`,
 * });
 * hooks.on('finished', ({ route, state, answer }) => console.log(route, state, answer));
 *
 * const server = createServer(hooks.node).listen(0, '127.0.0.1');
 * console.log((await hooks.emit('issues', { title: 'It does not start' })).outcome); // accepted
 * server.close();
 * await hooks.stop();
 * ```
 */
export async function hookwright(options: HookwrightOptions): Promise<Hooks> {
  const { config, home, cwd, modules, ...rest } = options;
  const input = inputOf(config);
  const chosen = chosenModules(modules);
  const temporary =
    rest.store === ':memory:' && home === undefined ? await mkdtemp(join(tmpdir(), 'hookwright-')) : null;
  const clear = async (): Promise<void> => {
    if (temporary !== null) await rm(temporary, { recursive: true, force: true });
  };
  try {
    const machine = machineOf({ home: temporary ?? home, env: rest.env, cwd });
    const result = await compileWith(chosen, input, machine);
    const { table, blueprints, diagnostics } = compiledOf(result);
    if (table === null) throw new ConfigError(diagnostics);
    // Programs in a sandbox cannot see the config.
    const files = result.files.filter((name) => !('text' in input && name === input.file));
    const hidden = (): readonly string[] => files.map((name) => resolve(machine.cwd, name));
    const own = { table, blueprints, home: machine.home };
    const operated = await createService({ ...rest, ...own }, runtimeParts(chosen), {
      ...programOf(chosen, machine),
      hidden,
      // The `.env` beside the config, which the compile also reads.
      projectEnv: projectEnvPath(nodeFiles, machine, 'paths' in input ? input.paths : [input.file]),
    });
    const service = publicService(operated);
    service.start();
    return hooksOf(service, diagnostics, clear);
  } catch (error) {
    await clear();
    throw error;
  }
}

function hooksOf(service: Service, diagnostics: readonly Diagnostic[], clear: () => Promise<void>): Hooks {
  return {
    node: service.node,
    fetch: service.handle,
    emit: service.emit,
    on: service.on,
    async stop(within) {
      const stopped = await service.stop(within);
      await clear();
      return stopped;
    },
    diagnostics,
    service,
  };
}

/** A key with its value, or the start of a flow mapping, on one line. */
const LOOKS_LIKE_YAML = /^\s*\{|:(?:\s|$)/;

function inputOf(config: HookwrightOptions['config']): ConfigInput {
  if (config instanceof URL) return { paths: [fileURLToPath(config)] };
  if (typeof config === 'object' && config !== null) return { text: JSON.stringify(config, null, 2), file: 'config' };
  if (typeof config !== 'string') throw new TypeError('hookwright: `config` must be a path, a text or an object');
  if (config.includes('\n')) return { text: config, file: 'hookwright.yaml' };
  if (!LOOKS_LIKE_YAML.test(config)) return { paths: [config] };
  throw new TypeError(
    'hookwright: `config` without a line break is a path; end a YAML text of one line with a line break',
  );
}

/** @throws TypeError for a module that `hookwright/modules` does not export */
function chosenModules(named: HookwrightOptions['modules']): readonly Module<CliContext>[] {
  if (named === undefined) return MODULES;
  return named.map(({ name }) => {
    const found = MODULES.find((module) => module.name === name);
    if (found === undefined) throw new TypeError(`hookwright: \`modules\`: hookwright/modules does not export ${name}`);
    return found;
  });
}

const printed = (diagnostics: readonly Diagnostic[]): string =>
  printDiagnostics('pretty', diagnostics, { color: false, width: 100 });
