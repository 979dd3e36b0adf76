/** The built program as a separate gateway, over a new home on a disk that may be slow: the program that users run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DiskPlan, DiskTool } from '../../test/helpers/disk/disk-plan.ts';
import { startGatewayProcess } from '../../test/helpers/gateway-process.ts';
import { ROOT } from './build.ts';
import { ROUTES, tempFolder } from './config.ts';
import { SECRET } from './payloads.ts';

export interface GatewayOptions {
  readonly durability: 'full' | 'normal';
  /** Further lines below `gateway:`, indented. */
  readonly settings?: string;
  /** Null: the disk unchanged. */
  readonly disk: (Omit<DiskPlan, 'home'> & { readonly tool: DiskTool }) | null;
  /** Called with the home before the gateway starts. */
  readonly prepare?: (home: string) => Promise<void> | void;
}

export interface RunningGateway {
  readonly port: number;
  /** Resident set in bytes; NaN where it cannot be read. */
  readonly resident: () => number;
  /** Processor time of all its threads, in seconds; NaN where it cannot be read. */
  readonly cpu: () => number;
}

/**
 * The load generator bounds the connections. Without an agent a run returns its prompt, so that runs keep up with
 * events if enough of them may run at once. Their limits are not measured here.
 */
const gatewayYaml = (durability: string, settings: string): string =>
  `${ROUTES.replace('    port: 0\n', '    port: 0\n    max_connections: 20000\n')}gateway:
  durability: ${durability}
  max_concurrent_runs: 256
  max_queued_runs: 1000000
${settings}`;

/** Starts a gateway of `dist/`, runs `work`, kills it. */
export async function withGateway<T>(
  { durability, settings = '', disk, prepare }: GatewayOptions,
  work: (gateway: RunningGateway) => Promise<T>,
): Promise<T> {
  const home = tempFolder();
  writeFileSync(join(home, 'hookwright.yaml'), gatewayYaml(durability, settings));
  await prepare?.(home);
  const gateway = await startGatewayProcess({
    home,
    program: [process.execPath, join(ROOT, 'dist/cli/main.js')],
    env: { WEBHOOK_SECRET: SECRET },
    ...(disk === null ? {} : { wrap: (argv) => disk.tool.wrap(argv, { ...disk, home }) }),
  });
  try {
    const { pid } = gateway.child;
    return await work({
      port: Number(new URL(gateway.url).port),
      resident: () => residentOf(pid),
      cpu: () => cpuOf(pid),
    });
  } finally {
    await gateway.kill();
  }
}

function residentOf(pid: number | undefined): number {
  try {
    const kilobytes = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? Number.NaN) * 1024;
  } catch {
    return Number.NaN;
  }
}

/** Linux counts it in hundredths of a second. */
function cpuOf(pid: number | undefined): number {
  try {
    // The name of the program, in brackets, may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return Number.NaN;
  }
}
