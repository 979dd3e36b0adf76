/** Names what is in the database and not used, because it is invalid: for `gateway status`, `/readyz` and `doctor`. */

export class RefusedRows {
  private readonly problems = new Map<string, string>();

  get all(): readonly string[] {
    return [...this.problems.values()];
  }

  /** Replaces what was noted of these rows. @param problem null: all of them are valid */
  note(rows: 'jobs' | 'subscriptions', problem: string | null): void {
    if (problem === null) this.problems.delete(rows);
    else this.problems.set(rows, problem);
  }
}
