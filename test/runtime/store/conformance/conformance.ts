/** The conformance tests that each engine runs: opened, closed, killed and opened again. */
import { describe } from 'node:test';
import { approvals } from './approvals.ts';
import { budgets } from './budgets.ts';
import { claims } from './claims.ts';
import { equivalence } from './equivalence.ts';
import { failures } from './failures.ts';
import { groups } from './groups.ts';
import { guard } from './guard.ts';
import { instants } from './instants.ts';
import { jobs } from './jobs.ts';
import { messages } from './messages.ts';
import { models } from './models.ts';
import { newer } from './newer.ts';
import { pauses } from './pauses.ts';
import { queries } from './queries.ts';
import { recovery } from './recovery.ts';
import { retention } from './retention.ts';
import { runs } from './runs.ts';
import { sessions } from './sessions.ts';
import type { StoreSubject } from './subject.ts';
import { openEach } from './subject.ts';
import { together } from './together.ts';
import { turns } from './turns.ts';

const SUITES = {
  approvals,
  budgets,
  claims,
  groups,
  runs,
  turns,
  sessions,
  newer,
  pauses,
  recovery,
  queries,
  jobs,
  instants,
  retention,
  failures,
  together,
  messages,
  guard,
  models,
  equivalence,
};

type SuiteName = keyof typeof SUITES;

/** @param parts default: all */
export function storeConformance(subject: StoreSubject, parts = Object.keys(SUITES) as readonly SuiteName[]): void {
  const open = openEach(subject);
  for (const name of parts) describe(`${subject.name}: ${name}`, () => SUITES[name](open));
}
