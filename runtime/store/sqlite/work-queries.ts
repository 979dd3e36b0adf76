/**
 * What is asked for with each taking of work. Answered from partial indexes over what waits and what is held, so that it
 * costs the same however much has ended: test/runtime/store/sqlite/plans.test.ts holds the plans.
 */

const PENDING = "FROM work WHERE state = 'pending'";
export const DUE_RUNS = `SELECT ref, failed ${PENDING} AND lane = ? AND due_at <= ? ORDER BY due_at, ref LIMIT ?`;
/** The first lane by name after this one. */
export const NEXT_RUN_LANE = `SELECT min(lane) ${PENDING} AND lane > ?`;
export const NEXT_RUN = `SELECT min(due_at) ${PENDING} AND lane = ?`;
export const LATER_RUN = `SELECT min(due_at) ${PENDING} AND lane = ? AND due_at > ?`;
/** By other processes. */
export const HELD_RUNS = 'SELECT ref, started_at, reason FROM work WHERE holder IS NOT NULL AND holder <> ?';

const WAITING = 'FROM delivery WHERE holder IS NULL';
export const DUE_ATTEMPTS = `SELECT ref, n ${WAITING} AND lane = ? AND due_at <= ? ORDER BY due_at, ref, n LIMIT ?`;
export const NEXT_ATTEMPT_LANE = `SELECT min(lane) ${WAITING} AND lane > ?`;
export const NEXT_ATTEMPT = `SELECT min(due_at) ${WAITING} AND lane = ?`;
export const LATER_ATTEMPT = `SELECT min(due_at) ${WAITING} AND lane = ? AND due_at > ?`;
export const HELD_ATTEMPTS = 'SELECT count(*) FROM delivery WHERE holder = ? AND lane = ?';
