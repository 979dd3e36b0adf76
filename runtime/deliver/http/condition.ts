/** Links the response conditions of a target plan (success, outcome rules) to predicates. */
import { RE2JS } from 're2js';
import type { BodyCheck, CheckPlan, ExpectPlan, ResponseCondition } from '../../../schemas/generated/types.ts';
import { linkPath, readPath } from '../../table/payload-path.ts';
import type { TargetResponse } from './response.ts';

export type Condition = (response: TargetResponse) => boolean;
type Expectation = (value: unknown) => boolean;

/** True when every check holds. */
export function linkCondition(plan: ResponseCondition): Condition {
  const checks = plan.map(linkCheck);
  return (response) => checks.every((check) => check(response));
}

/** Links a path of a plan to a reader; an empty path reads the value itself. */
export function linkReader(path: readonly string[]): (root: unknown) => unknown {
  if (path.length === 0) return (root) => root;
  const linked = linkPath(path);
  return linked === null ? () => undefined : (root) => readPath(root, linked);
}

function linkCheck(check: CheckPlan): Condition {
  switch (check.kind) {
    case 'status':
      return ({ status }) => check.ranges.some(({ from, to }) => status >= from && status <= to);
    case 'header': {
      const expect = linkExpectations(check.expect);
      return (response) => expect(response.header(check.name));
    }
    case 'body': {
      const holds = linkBodyCheck(check);
      return ({ json }) => json !== undefined && holds(json);
    }
    case 'text': {
      const pattern = RE2JS.compile(check.pattern);
      return ({ text }) => pattern.test(text);
    }
    case 'any': {
      const alternatives = check.of.map(linkCondition);
      return (response) => alternatives.some((condition) => condition(response));
    }
  }
}

function linkBodyCheck({ path, expect }: BodyCheck): Expectation {
  const read = linkReader(path);
  const holds = linkExpectations(expect);
  return (root) => holds(read(root));
}

function linkExpectations(plans: readonly ExpectPlan[]): Expectation {
  const tests = plans.map(linkExpectation);
  return (value) => tests.every((test) => test(value));
}

function linkExpectation(plan: ExpectPlan): Expectation {
  switch (plan.op) {
    case 'in':
      return (value) => plan.values.some((one) => one === value);
    case 'not_in':
      return (value) => !plan.values.some((one) => one === value);
    case 'exists':
      return (value) => (value !== undefined && value !== null) === plan.value;
    case 'empty':
      return (value) => isEmpty(value) === plan.value;
    case 'is':
      return (value) => typeOf(value) === plan.type;
    case 'between':
      return (value) => typeof value === 'number' && value >= plan.from && value <= plan.to;
    case 'matches': {
      const pattern = RE2JS.compile(plan.pattern);
      return (value) => (typeof value === 'string' || typeof value === 'number') && pattern.test(String(value));
    }
    case 'every': {
      const checks = plan.checks.map(linkBodyCheck);
      return (value) =>
        isNothing(value) ||
        (Array.isArray(value) && value.every((element: unknown) => checks.every((check) => check(element))));
    }
  }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isEmpty(value: unknown): boolean {
  if (isNothing(value) || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return value === null ? 'null' : typeof value;
}
