/** A separate process that starts a server, prints its folder, and waits to be killed. */
import { Cluster } from './cluster.ts';

const { folder } = await Cluster.create();
process.stdout.write(folder);
setInterval(() => {}, 1000);
