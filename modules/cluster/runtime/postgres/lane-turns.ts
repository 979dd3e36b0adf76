/** Fair turns among lanes with due rows: the lane that this process served longest ago comes first. */

/** A lane with due rows, the earliest first. */
export interface DueLane<Row> {
  readonly name: string;
  /** Most rows that may be taken from it. */
  readonly room: number;
  readonly rows: readonly Row[];
}

export class LaneTurns {
  private readonly served = new Map<string, number>();
  private sequence = 0;

  /**
   * Chooses up to `limit` rows, one from each lane in turn.
   * @param lanes lanes that were never served keep this order
   */
  choose<Row>(lanes: readonly DueLane<Row>[], limit: number): readonly Row[] {
    const turns = [...lanes].sort((a, b) => this.servedAt(a.name) - this.servedAt(b.name));
    const chosen: Row[] = [];
    for (let round = 0; chosen.length < limit; round++) {
      const open = turns.filter(({ rows, room }) => round < Math.min(rows.length, room));
      if (open.length === 0) break;
      for (const { rows } of open.slice(0, limit - chosen.length)) chosen.push(rows[round] as Row);
    }
    return chosen;
  }

  /** Records that a row of the lane was taken. */
  serve(name: string): void {
    this.served.set(name, ++this.sequence);
  }

  private servedAt(name: string): number {
    return this.served.get(name) ?? 0;
  }
}
