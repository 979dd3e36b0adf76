/** A maximum age without the place of an event's time, or the place without the age. */
import { lowerField } from '../config/field.ts';
import { rule } from './support/rule.ts';

export const maxAge = rule('max-age', {
  route({ config: { max_age_seconds: seconds, timestamp } }, report) {
    if (seconds !== undefined && timestamp === undefined) {
      const hint = 'write the path of its time in the payload: `timestamp: pull_request.updated_at`';
      report({ path: ['max_age_seconds'], at: 'key', message: '`max_age_seconds` needs `timestamp`', hint });
    }
    if (timestamp === undefined) return;
    if (seconds === undefined) {
      const hint = 'add `max_age_seconds: 900`, or remove it';
      report({ path: ['timestamp'], at: 'key', message: '`timestamp` needs `max_age_seconds`', hint });
    }
    const field = lowerField(timestamp);
    if (typeof field === 'string') report({ path: ['timestamp'], at: 'value', message: field });
  },
});
