/** A gateway with a console, and a process for the open pages. */
import { freePort } from '../../../test/helpers/free-port.ts';
import { Child } from '../../harness/child.ts';
import type { GatewayOptions, RunningGateway } from '../../harness/gateway.ts';
import { withGateway } from '../../harness/gateway.ts';
import type { Lab } from '../../lab.ts';

export interface RunningConsole {
  readonly gateway: RunningGateway;
  /** URL of the console, without a path. */
  readonly url: string;
}

export interface Bench extends RunningConsole {
  readonly pages: Child;
}

export async function withConsole<T>(
  { options }: Lab,
  work: (console: RunningConsole) => Promise<T>,
  { settings = '', ...more }: Pick<GatewayOptions, 'settings' | 'prepare'> = {},
): Promise<T> {
  const port = await freePort();
  const all = {
    durability: options.durability,
    settings: `${settings}  console:\n    port: ${port}\n`,
    disk: null,
    ...more,
  };
  return withGateway(all, (gateway) => work({ gateway, url: `http://127.0.0.1:${port}` }));
}

export async function withPages<T>(url: string, work: (pages: Child) => Promise<T>): Promise<T> {
  const { child } = await Child.start('servers/pages.js', { url });
  try {
    return await work(child);
  } finally {
    await child.stop();
  }
}
