/** Finishes requests before they are stored, and keeps the secrets that are redacted. */
import { Redactor } from '../../../../runtime/deliver/redact.ts';
import type { Captured, NewSecrets } from './captured.ts';
import type { FinishedRecord } from './finish-record.ts';
import { finishRecord } from './finish-record.ts';

export interface NumberedRecord extends FinishedRecord {
  readonly number: number;
}

export class RecordFinisher {
  private redactor = new Redactor();

  /** Returns null, without finishing any, when it needs all secrets again. */
  finish(records: readonly Captured[], { known, added }: NewSecrets): readonly NumberedRecord[] | null {
    if (known !== this.redactor.secrets.size) {
      // The thread was restarted, or a write failed after new secrets were added.
      this.redactor = new Redactor();
      return null;
    }
    this.redactor.add(added);
    const { redact } = this.redactor;
    return records.map((captured) => ({ number: captured.number, ...finishRecord(captured, redact) }));
  }
}
