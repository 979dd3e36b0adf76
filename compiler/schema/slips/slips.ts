/** Every mistake that is recognised in errors of shape; the first that fits explains the error. */
import { filterSlip } from './filter-slips.ts';
import { blueprintInJob, otherKey, outsideExtra } from './key-slips.ts';
import { listOfEntries, misspeltWebhook, notIndented, outsidePlatforms } from './layout-slips.ts';
import { numberAsText, numberForText } from './number-as-text.ts';
import type { Slip } from './slip.ts';
import { textForList } from './text-for-list.ts';
import { unquotedPlaceholder } from './unquoted-placeholder.ts';

export const SLIPS: readonly Slip[] = [
  unquotedPlaceholder,
  misspeltWebhook,
  notIndented,
  listOfEntries,
  textForList,
  numberAsText,
  numberForText,
  filterSlip,
  outsidePlatforms,
  blueprintInJob,
  outsideExtra,
  otherKey,
];
