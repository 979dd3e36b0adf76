/** All common mistakes that are recognised in schema errors. The first one that matches explains the error. */

import { listenKey, publishedPort } from './address-slips.ts';
import { extraWithoutMap } from './deliver-extra.ts';
import { deliverMap } from './deliver-map.ts';
import { envList } from './env-list.ts';
import { eventsMap, eventsUnderOn } from './events-map.ts';
import { filterSlip } from './filter-slips.ts';
import { foreignFile } from './foreign-file.ts';
import { hermesConfig } from './hermes-config.ts';
import { blueprintInJob, keyOfElsewhere, noBreakSpaces, otherKey, outsideExtra } from './key-slips.ts';
import { listOfEntries, misspeltWebhook, notIndented, outsidePlatforms, targetOutside } from './layout-slips.ts';
import { listForText } from './list-for-text.ts';
import { numberAsText, numberForText } from './number-as-text.ts';
import { referenceMap, secretList } from './reference-map.ts';
import type { Slip } from './slip.ts';
import { textForFilter } from './text-for-filter.ts';
import { textForList } from './text-for-list.ts';
import { unquotedPlaceholder } from './unquoted-placeholder.ts';

export const SLIPS: readonly Slip[] = [
  hermesConfig,
  foreignFile,
  noBreakSpaces,
  unquotedPlaceholder,
  misspeltWebhook,
  notIndented,
  listOfEntries,
  deliverMap,
  eventsMap,
  eventsUnderOn,
  envList,
  publishedPort,
  listenKey,
  extraWithoutMap,
  textForFilter,
  textForList,
  listForText,
  referenceMap,
  secretList,
  numberAsText,
  numberForText,
  filterSlip,
  outsidePlatforms,
  targetOutside,
  blueprintInJob,
  outsideExtra,
  keyOfElsewhere,
  otherKey,
];
