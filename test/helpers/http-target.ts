/** A deliverer to `platforms.http` of a configuration, compiled as users have it. */
import assert from 'node:assert/strict';
import type { lookup } from 'node:dns';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import type { RouteTable } from '../../schemas/generated/types.ts';
import { compileConfig, printed } from './compile.ts';
import type { TestDeliverer, TestDelivererOptions } from './deliveries.ts';
import { createTestDeliverer } from './deliveries.ts';

const webhook = {
  enabled: true,
  secret: 'env:WEBHOOK_SECRET',
  routes: { builds: { prompt: 'x', deliver: 'http', deliver_only: true } },
};

const ENV = { WEBHOOK_SECRET: '8f1d2b7e9c4a6053f7e1b2c3d4a5968778695a4b3c2d1e0f', HOME: '/home/user' };

export const httpConfig = (http: object): string =>
  stringify({ platforms: { webhook, http: { enabled: true, ...http } } });

/** The output of `lint`; empty: no problems. */
export const lintHttp = (http: object): string => printed(compileConfig(httpConfig(http), { env: ENV }));

/** @throws if it does not compile */
export function httpTable(http: object): RouteTable {
  const result = compileConfig(httpConfig(http), { env: ENV });
  assert.ok(result.output, printed(result));
  return JSON.parse(result.output.routesJson) as RouteTable;
}

export function deliverHttp(
  t: Pick<TestContext, 'after'>,
  http: object,
  more: Partial<TestDelivererOptions> & { readonly lookup?: typeof lookup } = {},
): TestDeliverer {
  const { targets, profiles } = httpTable(http);
  const bindings = Object.fromEntries(Object.entries(profiles).map(([name, profile]) => [name, profile.targets]));
  return createTestDeliverer(t, { targets: Object.values(targets), bindings, ...more });
}
