/** A gateway for the fuzz harness: a compiled config, a real socket, and a dispatcher that only records. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompileOutput } from '../../../compiler/compile.ts';
import { printCatalog } from '../../../compiler/emit/emit-table.ts';
import type { Clock } from '../../../runtime/platform/clock.ts';
import type { SecretResolver } from '../../../runtime/platform/secrets.ts';
import { compileConfig, printed } from '../../helpers/compile.ts';
import type { FakeDispatcher } from '../../helpers/fake-dispatcher.ts';
import { prepareGateway } from '../../helpers/serve.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import type { Closing } from './worker.ts';

export interface BenchGateway {
  readonly port: number;
  readonly dispatcher: FakeDispatcher;
}

/** Tables by config, because every round needs the same one. */
const compiled = new Map<string, CompileOutput>();

function compileOnce(config: string): CompileOutput {
  const known = compiled.get(config);
  if (known !== undefined) return known;
  const result = compileConfig(config);
  if (result.output === null) throw new Error(printed(result));
  compiled.set(config, result.output);
  return result.output;
}

interface GatewayOptions {
  readonly clock?: Clock;
  readonly patient?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** Short timeouts, in ms, because a case waits for them. */
const LIMITS = { headersTimeoutMs: 150, requestTimeoutMs: 200, keepAliveMs: 60, checkEveryMs: 30 };

/** @param patient for connections that are reused between cases @param env values of `env:` references */
export async function openGateway(
  closing: Closing,
  config: string,
  { clock, patient = false, env = {} }: GatewayOptions = {},
): Promise<BenchGateway> {
  const { routesJson, catalog } = compileOnce(config);
  const home = tempDir(closing);
  const secrets: SecretResolver = { resolve: ({ kind, value }) => (kind === 'env' ? (env[value] ?? '') : value) };
  const options = {
    home,
    port: 0,
    secrets: async () => secrets,
    ...(patient ? {} : { limits: LIMITS }),
    ...(clock === undefined ? {} : { clock }),
  };
  const { gateway, dispatcher } = prepareGateway(closing, {}, options);
  mkdirSync(join(home, 'build'), { recursive: true });
  writeFileSync(join(home, 'build/routes.json'), routesJson);
  writeFileSync(join(home, 'build/blueprints.json'), printCatalog(catalog()));
  await gateway.load();
  const { port } = await gateway.listen();
  return { port, dispatcher };
}
