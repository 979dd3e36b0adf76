/** Lowers the handshakes of a source (`challenge:`) to the plans that the intake answers them with. */
import type { ChallengePlan, Locator, SourceChallenge } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import type { ReportFault } from './locator.ts';
import { lowerEach, lowerLocator } from './locator.ts';

export const lowerChallenges = (
  value: SourceChallenge | SourceChallenge[] | undefined,
  report: ReportFault,
): ChallengePlan[] => lowerEach(value, ['challenge'], (challenge, path) => lowerChallenge(challenge, path, report));

function lowerChallenge(challenge: SourceChallenge, path: NodePath, report: ReportFault): ChallengePlan {
  const { kind, when } = challenge;
  const place = (key: string, locator: Locator | undefined) =>
    locator === undefined ? null : lowerLocator(locator, [...path, key], report);
  if ((kind === 'echo' || kind === 'capture') && challenge.value === undefined) {
    report(path, `a challenge of kind \`${kind}\` needs \`value\`: the place of the value to ${kind}`);
  }
  if (kind === 'reply' && challenge.json === undefined && challenge.status !== 204) {
    report(path, 'a challenge of kind `reply` needs `json`: the response');
  }
  const method = challenge.method ?? 'POST';
  if (method === 'POST' && kind !== 'capture' && when === undefined) {
    report(path, 'a POST challenge needs `when`: without it, every event would be treated as a handshake');
  }
  const at = when === undefined ? null : place('when', placeOf(when));
  const equals = when?.equals === undefined ? null : String(when.equals);
  return {
    kind,
    method,
    when: at === null ? null : { at, equals },
    token: place('token', challenge.token),
    value: place('value', challenge.value),
    body: challenge.json === undefined ? null : JSON.stringify(challenge.json),
    headers: challenge.headers ?? {},
    status: challenge.status ?? 200,
    echo: challenge.echo?.header.toLowerCase() ?? null,
  };
}

/** The locator of a condition, without the expected value. */
function placeOf(when: NonNullable<SourceChallenge['when']>): Locator {
  const { equals: _equals, ...place } = when;
  return place;
}
