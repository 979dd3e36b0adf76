/** The conformance tests for the SQLite store as a command opens it; a server uses the same code in threads. */
import { IS_SAMPLE } from '../../../helpers/sample.ts';
import { storeConformance } from '../conformance/conformance.ts';
import { sqliteSubject } from './subject.ts';

// ./conformance.slow.test.ts has all runs of the properties. In a sample, the store in memory runs the other parts.
const SAMPLE = ['claims', 'recovery', 'retention', 'failures', 'together', 'equivalence'] as const;
storeConformance({ ...sqliteSubject, share: 0.1 }, IS_SAMPLE ? SAMPLE : undefined);
