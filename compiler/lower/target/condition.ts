/** Lowers the response conditions of a target file (success, outcome rules). */
import type {
  BodyCheck,
  CheckPlan,
  ExpectPlan,
  ResponseCondition,
  StatusCheck,
  TargetCondition,
  TargetExpectation,
} from '../../../schemas/generated/types.ts';
import type { NodePath } from '../../diagnostics/problem.ts';
import type { TargetScope } from './scope.ts';
import { lowerPattern, splitPath } from './scope.ts';

type Scalar = string | number | boolean | null;
type Expectation = Scalar | readonly Scalar[] | TargetExpectation;

export function lowerCondition(condition: TargetCondition, path: NodePath, scope: TargetScope): ResponseCondition {
  const checks: CheckPlan[] = [];
  if (condition.status !== undefined) checks.push({ kind: 'status', ranges: statusRanges(condition.status) });
  for (const [name, expected] of Object.entries(condition.headers ?? {})) {
    const expect = lowerExpectation(expected, [...path, 'headers', name], scope);
    checks.push({ kind: 'header', name: name.toLowerCase(), expect });
  }
  checks.push(...lowerBodyChecks(condition.body ?? {}, [...path, 'body'], scope));
  if (condition.text !== undefined) {
    const pattern = lowerPattern(condition.text, [...path, 'text'], scope);
    if (pattern !== null) checks.push({ kind: 'text', pattern });
  }
  if (condition.any !== undefined) {
    const of = condition.any.map((one, index) => lowerCondition(one, [...path, 'any', index], scope));
    checks.push({ kind: 'any', of });
  }
  return checks;
}

function lowerBodyChecks(body: Readonly<Record<string, Expectation>>, path: NodePath, scope: TargetScope): BodyCheck[] {
  return Object.entries(body).map(([at, expected]) => ({
    kind: 'body',
    path: splitPath(at),
    expect: lowerExpectation(expected, [...path, at], scope),
  }));
}

function statusRanges(status: NonNullable<TargetCondition['status']>): StatusCheck['ranges'] {
  return (Array.isArray(status) ? status : [status]).map((one) => {
    if (typeof one === 'number') return { from: one, to: one };
    const hundred = Number(one.slice(0, 1)) * 100;
    return { from: hundred, to: hundred + 99 };
  });
}

function lowerExpectation(expected: Expectation, path: NodePath, scope: TargetScope): ExpectPlan[] {
  if (Array.isArray(expected)) return [{ op: 'in', values: [...expected] }];
  if (expected === null || typeof expected !== 'object') return [{ op: 'in', values: [expected as Scalar] }];
  const tests = expected as TargetExpectation;
  const expect: ExpectPlan[] = [];
  if (tests.exists !== undefined) expect.push({ op: 'exists', value: tests.exists });
  if (tests.empty !== undefined) expect.push({ op: 'empty', value: tests.empty });
  if (tests.is !== undefined) expect.push({ op: 'is', type: tests.is });
  if (tests.not !== undefined) expect.push({ op: 'not_in', values: [...tests.not] });
  if (tests.between !== undefined) expect.push({ op: 'between', from: tests.between[0], to: tests.between[1] });
  if (tests.matches !== undefined) {
    const pattern = lowerPattern(tests.matches, [...path, 'matches'], scope);
    if (pattern !== null) expect.push({ op: 'matches', pattern });
  }
  if (tests.every !== undefined) {
    expect.push({ op: 'every', checks: lowerBodyChecks(tests.every, [...path, 'every'], scope) });
  }
  return expect;
}
