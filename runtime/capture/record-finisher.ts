/** Finishes requests before they are stored, and remembers the secrets that it was told of. */
import { Redactor } from '../deliver/redact.ts';
import type { Captured, NewSecrets } from './captured.ts';
import type { FinishedRecord } from './finish-record.ts';
import { finishRecord } from './finish-record.ts';

export interface NumberedRecord extends FinishedRecord {
  readonly number: number;
}

export class RecordFinisher {
  private redactor = new Redactor();

  /** Null: nothing is finished, all secrets are to be told again. */
  finish(records: readonly Captured[], { known, added }: NewSecrets): readonly NumberedRecord[] | null {
    if (known !== this.redactor.secrets.size) {
      // Its thread was started again, or a write failed behind which it had learned some.
      this.redactor = new Redactor();
      return null;
    }
    this.redactor.add(added);
    const { redact } = this.redactor;
    return records.map((captured) => ({ number: captured.number, ...finishRecord(captured, redact) }));
  }
}
