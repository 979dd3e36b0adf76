/**
 * Tests that `explain`, `test` and `diff` agree with a gateway's answers and captured requests: every kind of route, secret and
 * address with every kind of request. The requests are sent to a real gateway with a store and targets.
 */

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { createSides, replayRequests } from '../../../../modules/workbench/cli/diff/replay-requests.ts';
import { formatExplanation } from '../../../../modules/workbench/cli/explain/format-explanation.ts';
import {
  createMachineExplainer,
  jobState,
  openConfig,
  scriptRunner,
} from '../../../../modules/workbench/cli/explain/machine-services.ts';
import { readCaptured, readSaved } from '../../../../modules/workbench/cli/explain/read-request.ts';
import { printHar } from '../../../../modules/workbench/cli/requests/print-request.ts';
import { useRequests } from '../../../../modules/workbench/cli/use-requests.ts';
import { verifiedParts } from '../../../../modules/workbench/runtime/capture/requests.ts';
import type { Explainer } from '../../../../modules/workbench/runtime/explain/create-explainer.ts';
import { fixedWorld } from '../../../../modules/workbench/runtime/explain/create-explainer.ts';
import { ACCEPTED_OUTCOMES } from '../../../../runtime/intake/reply.ts';
import { createIds } from '../../../../runtime/platform/ids.ts';
import { createSecrets } from '../../../../runtime/platform/secrets.ts';
import { EXAMPLE_INSTALLATION } from '../../../../runtime/table/link-loop.ts';
import { partsOf } from '../../../../runtime/verify/request.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { Explanation, RoutePlan, RouteTable } from '../../../../schemas/generated/types.ts';
import { contextFor } from '../../../helpers/cli.ts';
import type { SeenRequest } from '../../../helpers/fake-http.ts';
import { startFakeHttp } from '../../../helpers/fake-http.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';
import type { MatrixRequest, MatrixRoute } from './matrix-config.ts';
import { ENV, matrixConfig, ROUTES, requestsTo, SCRIPT, SCRIPT_SAYS } from './matrix-config.ts';

interface Answered {
  readonly route: MatrixRoute;
  readonly name: string;
  readonly request: MatrixRequest;
  readonly status: number;
  readonly outcome: string;
  /** Only `ignored` answers have a reason. */
  readonly reason: string | null;
}

/** Chats by route. */
type Chats = Map<string, Set<string>>;

const addTo = (chats: Chats, route: string, chat: unknown): void =>
  void chats.set(route, (chats.get(route) ?? new Set()).add(String(chat)));

interface ServedAll {
  readonly answers: readonly Answered[];
  /** Chats that got messages, by the route that the text names. */
  readonly sent: Chats;
}

/** Sends every request to every route, and stops the gateway. Captured requests stay in the home. */
async function serveAll(t: TestContext, home: string): Promise<ServedAll> {
  const sent: Chats = new Map();
  const service = await startFakeHttp(t, ({ path, json }: SeenRequest) => {
    const { text = '', message = text, chat_id, channel_id = chat_id } = json as Record<string, string>;
    addTo(sent, message.split(' ')[0] ?? '', channel_id);
    return path === '/api/v4/posts'
      ? { status: 201, body: { id: 'x' } }
      : { body: { ok: true, result: { message_id: 7, chat: { id: -1 }, date: 1, text: 'x' } } };
  });
  mkdirSync(join(home, 'scripts'));
  writeFileSync(join(home, 'scripts/shape.sh'), SCRIPT, { mode: 0o755 });
  const gateway = await startGateway(t, { home, env: ENV, config: matrixConfig(service.url) });
  const answers: Answered[] = [];
  const sendAll = async (route: MatrixRoute): Promise<void> => {
    for (const [name, request] of requestsTo(route)) {
      const { method, headers, body } = request;
      const response = await sendAgain(`${gateway.url}/webhooks/${route.name}`, { method, headers, body });
      const { status, code, reason } = (await response.json()) as Record<string, string>;
      const outcome = code ?? status ?? '';
      answers.push({
        route,
        name,
        request,
        status: response.status,
        outcome,
        reason: outcome === 'ignored' ? (reason ?? '') : null,
      });
    }
  };
  for (let at = 0; at < ROUTES.length; at += 8) await Promise.all(ROUTES.slice(at, at + 8).map(sendAll));
  await gateway.stop();
  return { answers, sent };
}

const answerOf = ({ status, outcome, reason }: Explanation) => ({
  status,
  outcome,
  reason: outcome === 'ignored' ? reason : null,
});

/** The chats of an event's deliveries that are not rejected before sending. */
function chatsOf({ taken, outcome, deliveries, warnings }: Explanation): string[] {
  if (!taken && outcome !== 'delivery_failed') return [];
  return deliveries
    .filter(
      ({ target, unresolved }) =>
        unresolved.length === 0 && !warnings.some((text) => text.includes(`delivery to ${target} fails`)),
    )
    .flatMap(({ address }) => address.chat_id ?? []);
}

async function everyKept(home: string): Promise<readonly KeptRequest[]> {
  return useRequests(contextFor({ home, env: ENV }), async (requests) => {
    const captured: KeptRequest[] = [];
    for (let page = await requests.list({}, { limit: 1000 }); page.length > 0; ) {
      for (const { id } of page) {
        const found = await requests.load(id);
        if (found.kind === 'found') captured.push(found.request);
      }
      page = await requests.list({}, { limit: 1000, before: page.at(-1)?.id ?? '' });
    }
    return captured;
  });
}

function planOf(table: RouteTable, name: string): RoutePlan {
  const plan = Object.values(table.routes).find((route) => route.name === name);
  assert(plan !== undefined, name);
  return plan;
}

describe('the tools agree with the gateway', () => {
  it('for every kind of route, secret, address and request', { timeout: 3_600_000 }, async (t) => {
    const home = tempDir(t);
    const { answers, sent } = await serveAll(t, home);
    const said: Chats = new Map();
    const context = contextFor({ home, env: ENV });
    const { table, files } = await openConfig(context, undefined);
    const runScript = await scriptRunner(context, table, files);
    const machine = createMachineExplainer(context, table, {
      ...{ secrets: createSecrets(context), clock: context.clock, ids: createIds(context.random) },
      installation: async () => EXAMPLE_INSTALLATION,
      jobState: (profile, id) => jobState(context, table, profile, id),
    });
    const fixed = createMachineExplainer(context, table, fixedWorld(table));
    const counts = new Map<string, number>();
    const scripts: { readonly name: string; readonly body: string; readonly found: Explanation }[] = [];

    await t.test('explain of the sent request', async () => {
      for (const { route, name, request, ...answered } of answers) {
        counts.set(answered.outcome, (counts.get(answered.outcome) ?? 0) + 1);
        // Earlier requests are not considered.
        if (answered.outcome === 'duplicate') continue;
        const { method, headers, body } = request;
        // Headers that the client of this test adds.
        const sent = Object.entries({ host: '127.0.0.1', ...headers });
        const parts = partsOf(method, `/webhooks/${route.name}`, sent, Buffer.from(body ?? ''));
        const plan = planOf(table, route.name);
        const found = await machine.explain(plan, { request: parts, event: null, runScript });
        assert.deepEqual(answerOf(found), answered, `${route.name} ${name}`);
        for (const chat of chatsOf(found)) addTo(said, route.name, chat);
        if (found.script?.ran === true) scripts.push({ name, body: body ?? '', found });
        const isAlone = found.warnings.some((text) => text.includes('`coalesce.key` does not resolve'));
        assert.equal(isAlone, route.kind === 'coalesce' && found.outcome === 'accepted', `${route.name} ${name}`);
      }
    });

    await t.test('the chats that get messages', () => {
      assert(sent.size > 40, `${sent.size} routes sent`);
      for (const { name, kind } of ROUTES) {
        const [chats, expected] = [sent, said].map((of) => [...(of.get(name) ?? [])].sort());
        // Only the last event of a group is dispatched.
        if (kind === 'coalesce')
          assert(
            chats?.every((chat) => expected?.includes(chat)),
            name,
          );
        else assert.deepEqual(chats, expected, name);
      }
    });

    const all = await everyKept(home);

    await t.test('texts about scripts', () => {
      assert(scripts.length > 100, `${scripts.length} ran`);
      const keptWords = all.filter(({ stage }) => stage === 'script').map(({ about }) => textOf(about));
      assert.deepEqual(new Set(keptWords), new Set(Object.values(SCRIPT_SAYS)));
      for (const { name, body, found } of scripts) {
        const lines = formatExplanation(found, (_style, text) => text);
        const about = `${found.route} ${name}\n${lines.join('\n')}`;
        const line = lines.find((text) => text.includes('script ')) ?? '';
        assert(line.includes(`shape.sh: ${SCRIPT_SAYS[name] ?? 'replaced the payload'}`), about);
        // The input, and the reason of the failure.
        assert.deepEqual(JSON.parse(found.script?.stdin ?? ''), JSON.parse(body), about);
        assert(
          lines.some((text) => text.includes(`stdin      │ ${found.script?.stdin ?? ''}`)),
          about,
        );
        assert.equal(
          lines.some((text) => text.includes('stderr     │ no such branch')),
          name === 'fail',
          about,
        );
      }
    });

    // Requests that a slow disk rejected were sent again.
    const captured = all.filter(({ outcome }) => outcome !== 'duplicate' && outcome !== 'overloaded');
    assert(captured.length > answers.length / 2, `${captured.length} of ${answers.length} are kept`);

    await t.test('explain --request, or the reason why it cannot explain', async () => {
      const told = new Set<string>();
      for (const each of captured) {
        const about = `${each.route} ${each.outcome} ${each.delivery_id}`;
        const parts = verifiedParts(each);
        if (parts === null) {
          if (told.has(each.outcome)) continue;
          told.add(each.outcome);
          const why =
            each.status === 401 ? /the request had no valid signature/ : new RegExp(`\\b${each.status} ${each.outcome}\\b`);
          await assert.rejects(readCaptured(context, each.id), why, about);
          continue;
        }
        const { parts: request, ...verified } = parts;
        const asked = { request, ...verified, event: null, runScript };
        assert.deepEqual(answerOf(await machine.explain(planOf(table, each.route), asked)), keptAnswer(each), about);
      }
    });

    await t.test('test of the saved request', async () => {
      for (const each of captured) {
        if (verifiedParts(each) === null) continue;
        const { parts } = await readSaved(Buffer.from(printHar(each)), [], `/webhooks/${each.route}`);
        const found = await fixed.explain(planOf(table, each.route), { request: parts, event: null, runScript });
        assert.deepEqual(answerOf(found), keptAnswer(each), `${each.route} ${each.outcome} ${each.delivery_id}`);
      }
    });

    await t.test('diff finds exactly the lost requests', async () => {
      const judged = all.filter((each) => verifiedParts(each) !== null && each.outcome !== 'duplicate');
      const compareWith = async (other: RouteTable) => {
        const sides: Readonly<Record<'old' | 'new', Explainer>> = createSides(context, [], { old: table, new: other });
        return useRequests(context, (requests) => replayRequests(requests, 100_000, sides));
      };
      const same = await compareWith(table);
      assert.deepEqual([same.lost, same.gained, same.changed, same.same], [0, 0, 0, judged.length]);
      const closed = Object.entries(table.routes).map(([path, plan]) => [path, { ...plan, enabled: false }]);
      const lost = await compareWith({ ...table, routes: Object.fromEntries(closed) });
      // A script also decides: without it, the event counts as accepted.
      const taken = judged.filter(
        ({ outcome, reason }) => ACCEPTED_OUTCOMES.has(outcome) || reason === 'script' || outcome === 'overloaded',
      );
      assert.deepEqual([lost.lost, lost.gained], [taken.length, 0]);
    });

    t.diagnostic(
      `${ROUTES.length} routes, ${answers.length} requests, ${all.length} kept: ${[...counts].map(([key, times]) => `${times} ${key}`).join(', ')}`,
    );
    for (const outcome of [
      'accepted',
      'coalesced',
      'delivered',
      'delivery_failed',
      'duplicate',
      'ignored',
      'invalid_signature',
    ]) {
      assert((counts.get(outcome) ?? 0) > 0, outcome);
    }
    for (const outcome of [
      'foreign_origin',
      'malformed_body',
      'method_not_allowed',
      'payload_too_large',
      'route_disabled',
      'unsupported_media_type',
    ]) {
      assert((counts.get(outcome) ?? 0) > 0, outcome);
    }
  });
});

const keptAnswer = ({ status, outcome, reason }: KeptRequest) => ({
  status,
  outcome,
  reason: outcome === 'ignored' ? reason : null,
});

const textOf = (about: KeptRequest['about']): string | null => (about?.kind === 'text' ? about.text : null);
