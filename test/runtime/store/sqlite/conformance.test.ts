/** The conformance tests for the SQLite store as a command opens it; a server uses the same code in threads. */
import { storeConformance } from '../conformance/conformance.ts';
import { sqliteSubject } from './subject.ts';

// ./conformance.slow.test.ts has all runs of the properties.
storeConformance({ ...sqliteSubject, share: 0.1 });
