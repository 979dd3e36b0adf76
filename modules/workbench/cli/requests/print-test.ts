/** A kept request as the beginning of a `*.test.yaml`: what the configuration makes of it now is what it expects. */

import { stringify } from 'yaml';
import { tryParseJson } from '../../../../base/try-parse-json.ts';
import { CliError } from '../../../../cli/base/errors.ts';
import type { KeptRequest } from '../../../../schemas/built/operations/types.ts';
import type { TestCase, TestExpectation } from '../../../../schemas/generated/types.ts';
import { whyUnverified } from '../../runtime/capture/requests.ts';
import { runTest } from '../test/run-tests.ts';
import type { TestedConfig } from '../test/tested-config.ts';
import { expectationOf, USUAL } from '../test/update-snapshots.ts';

/**
 * @param saved path of the file that the request was saved to, relative to the test file, and absolute; null: the payload
 *   stands in the test
 * @param script what stands in for the route's script, which is not run then
 * @throws CliError when the route is not in the configuration, or the payload is not JSON
 */
export async function printTest(
  request: KeptRequest,
  config: TestedConfig,
  saved: { readonly name: string; readonly folder: string } | null,
  script?: TestCase['script'],
): Promise<string> {
  const asked = { ...testOf(request, saved?.name ?? null), ...(script === undefined ? {} : { script }) };
  const test = { ...asked, expect: {} };
  const path = `${saved?.folder ?? '.'}/request.test.yaml`;
  const tests = { path, name: path, file: { tests: [test] }, tree: NO_PLACES };
  const { found, failures } = await runTest({ tests, index: 0, test }, config);
  if (found === null) throw new CliError(failures[0]?.message ?? 'the test cannot be run');
  const actual = expectationOf(found.explanation);
  const expect = Object.fromEntries(USUAL.flatMap((key) => (actual[key] === undefined ? [] : [[key, actual[key]]])));
  const { came_at: _, ...timeless } = asked;
  const needed = found.plan.max_age === null ? timeless : asked;
  const file = { tests: [{ ...needed, expect: expect as TestExpectation }] };
  return stringify(file, { lineWidth: 0 });
}

/** Nothing is printed with a position. */
const NO_PLACES = {
  files: [],
  place: (): never => {
    throw new Error('a skeleton has no places');
  },
};

function testOf(request: KeptRequest, saved: string | null): Omit<TestCase, 'expect'> {
  const { route, event, outcome, id, at } = request;
  const name = `${event === '' ? 'request' : event} ${id} (was ${outcome})`;
  const came_at = new Date(at).toISOString();
  if (saved !== null) return { name, route, request: saved, came_at };
  const hasEvent = event !== '' && event !== 'unknown';
  return { name, route, ...(hasEvent ? { event } : {}), payload: payloadOf(request), came_at };
}

function payloadOf(kept: KeptRequest): NonNullable<TestCase['payload']> {
  const { body, id } = kept;
  if (body === null) throw new CliError(`the body of request ${id} is not kept: ${whyUnverified(kept)}`);
  const payload = tryParseJson(Buffer.from(body, 'base64').toString('utf8'));
  if (payload !== undefined) return payload as NonNullable<TestCase['payload']>;
  const hint = `save it beside the test: hookwright requests show ${id} --save ${id}.json --as-test`;
  throw new CliError(`the body of request ${id} is no JSON`, hint);
}
