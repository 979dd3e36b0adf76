/** A new table on three gateways that share a database, one after another, while events arrive. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAtomic } from '../../../../runtime/platform/files.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { compileConfig } from '../../../helpers/compile.ts';
import type { FakeServer } from '../../../helpers/fake-http.ts';
import { startFakeHttp } from '../../../helpers/fake-http.ts';
import { until } from '../../../helpers/gateway.ts';
import type { GatewayProcess } from '../../../helpers/gateway-process.ts';
import { createSender, startGatewayProcess } from '../../../helpers/gateway-process.ts';
import { skipWithoutPostgres } from '../../../helpers/postgres/binaries.ts';
import { testDatabase } from '../../../helpers/postgres/database.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const SECRET = 'a-secret-of-three-gateways';
/** Concurrent senders, which each wait for their response. */
const SENDERS = 6;
/** The response of an overloaded gateway, and the pause before its sender retries, in ms. */
const BUSY = '503 overloaded';
const BUSY_MS = 100;
/** How long a gateway serves the new table beside others that do not, in ms. */
const BETWEEN_MS = 200;

const STORE = 'gateway: { store: { postgres: env:DATABASE_URL } }\n';

interface Table {
  readonly text: string;
  readonly hash: string;
}

/** The prompt and the address of a table name its version. */
function compileTable(world: string, version: string): Table {
  const config = `${STORE}platforms:
  matrix: { enabled: true, api_base: "${world}", access_token: env:MATRIX_TOKEN }
  webhook:
    enabled: true
    port: 0
    secret: env:HOOK_SECRET
    rate_limit: 1000000
    routes:
      alerts: { prompt: "${version} {id}", deliver: matrix, deliver_extra: { chat_id: "!${version}:x" } }
`;
  const env = { DATABASE_URL: 'postgres://h/d', MATRIX_TOKEN: 'a-token-of-the-chat', HOOK_SECRET: SECRET };
  const { output, diagnostics } = compileConfig(config, { env });
  assert(output !== null, diagnostics.map(({ message }) => message).join('\n'));
  return { text: output.routesJson, hash: output.table.hash };
}

class Node {
  private readonly folder: string;
  private readonly process: GatewayProcess;

  private constructor(folder: string, process: GatewayProcess) {
    this.folder = folder;
    this.process = process;
  }

  static async start(t: TestContext, database: string, table: string): Promise<Node> {
    const home = tempDir(t);
    const folder = join(home, 'build');
    mkdirSync(folder);
    writeAtomic(join(folder, 'routes.json'), table, 0o600);
    return new Node(folder, await serve(t, { home, database, table: folder }));
  }

  get url(): string {
    return this.process.url;
  }

  /** Resolves when it serves this table. */
  async change({ text, hash }: Table): Promise<void> {
    const before = this.loads(hash);
    writeAtomic(join(this.folder, 'routes.json'), text, 0o600);
    await until(async () => this.loads(hash) > before);
  }

  /** How often it has loaded this table. */
  loads(hash: string): number {
    return this.process.output().split(`"hash":"${hash}"`).length - 1;
  }
}

async function serve(
  t: TestContext,
  { home, database, table }: { readonly home: string; readonly database: string; readonly table: string },
): Promise<GatewayProcess> {
  const env = { DATABASE_URL: database, MATRIX_TOKEN: 'a-token-of-the-chat', HOOK_SECRET: SECRET };
  const process = await startGatewayProcess({ home, env, command: ['serve', '--table', table] });
  atEnd(t, process.kill);
  return process;
}

/** Sends each event to one gateway, and again to the next, which may serve another table. */
class Load {
  /** Events whose gateway served this version from before they were sent until they were answered, by their ids. */
  readonly versions = new Map<string, string>();
  readonly wrong: string[] = [];
  sent = 0;
  private readonly nodes: readonly Node[];
  private readonly serving: ReadonlyMap<Node, string | null>;
  private readonly senders: Promise<unknown>;
  private isEnding = false;

  /** @param serving versions; null while a gateway changes to another one */
  constructor(nodes: readonly Node[], serving: ReadonlyMap<Node, string | null>) {
    this.nodes = nodes;
    this.serving = serving;
    this.senders = Promise.all(Array.from({ length: SENDERS }, () => this.sendUntilEnd()));
  }

  async end(): Promise<void> {
    this.isEnding = true;
    await this.senders;
  }

  private async sendUntilEnd(): Promise<void> {
    while (!this.isEnding) await this.sendTwice(this.sent++);
  }

  private async sendTwice(n: number): Promise<void> {
    const [node, next] = [0, 1].map((by) => this.nodes[(n + by) % this.nodes.length]) as [Node, Node];
    const version = this.serving.get(node) ?? null;
    await this.send(node, n, '202 accepted');
    if (version !== null && version === this.serving.get(node)) this.versions.set(`e${n}`, version);
    await this.send(next, n, '200 duplicate');
  }

  /** Retries as a sender does when the gateway is overloaded. */
  private async send({ url }: Node, n: number, expected: string): Promise<void> {
    const sendOnce = () =>
      createSender(SECRET)(url, 'alerts', `e${n}`, { id: `e${n}` }).then(
        ({ status, code }) => `${status} ${code}`,
        String,
      );
    let answer = await sendOnce();
    const wasBusy = answer === BUSY;
    while (answer === BUSY) {
      await sleep(BUSY_MS);
      answer = await sendOnce();
    }
    // An event that got 503 may have been stored.
    if (answer !== expected && !(wasBusy && answer === '200 duplicate')) this.wrong.push(`e${n}: ${answer}`);
  }
}

interface Delivered {
  readonly id: string;
  /** Versions of the prompt, and of the address. */
  readonly versions: readonly [string, string];
}

const deliveredTo = ({ seen }: FakeServer): readonly Delivered[] =>
  seen.map(({ path, json }) => {
    const [version = '', id = ''] = (json as { body: string }).body.split(' ');
    return { id, versions: [version, /rooms\/(?:!|%21)(\w+)/.exec(path)?.[1] ?? path] };
  });

/** No event failed or arrived twice, and each was served by one table: that of its gateway. */
async function checkLoad(t: TestContext, world: FakeServer, load: Load): Promise<void> {
  await load.end();
  assert.deepEqual(load.wrong, []);
  const delivered = await until(async () => world.seen.length >= load.sent && deliveredTo(world));
  assert.equal(delivered.length, load.sent);
  assert.equal(new Set(delivered.map(({ id }) => id)).size, load.sent);
  const mixed = delivered.filter(({ versions: [prompt, address] }) => prompt !== address);
  assert.deepEqual(mixed, []);
  const late = delivered.filter(({ id, versions }) => (load.versions.get(id) ?? versions[0]) !== versions[0]);
  assert.deepEqual(late, [], 'a gateway that served one table took an event by the other');
  t.diagnostic(
    `${load.sent} events, ${delivered.filter(({ versions }) => versions[0] === 'new').length} by the new table`,
  );
  for (const version of ['old', 'new'])
    assert.ok(
      delivered.some(({ versions }) => versions[0] === version),
      version,
    );
}

describe('a change of the table on three gateways', { skip: skipWithoutPostgres() }, () => {
  it('fails no event, and each is accepted once and by one of the two tables', async (t) => {
    const world = await startFakeHttp(t, (_request, index) => ({ body: { event_id: `$${index}` } }));
    const database = await testDatabase(t);
    const [old, changed] = [compileTable(world.url, 'old'), compileTable(world.url, 'new')];
    const nodes = await Promise.all([1, 2, 3].map(() => Node.start(t, database, old.text)));
    const serving = new Map<Node, string | null>(nodes.map((node) => [node, 'old']));
    const load = new Load(nodes, serving);
    for (const [version, table] of Object.entries({ new: changed, old })) {
      for (const node of nodes) {
        await sleep(BETWEEN_MS);
        serving.set(node, null);
        await node.change(table);
        serving.set(node, version);
      }
      await until(async () => deliveredTo(world).some(({ versions }) => versions[0] === version));
    }
    await sleep(BETWEEN_MS);
    await checkLoad(t, world, load);
  });
});
