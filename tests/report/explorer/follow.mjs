/** Follows requests with the page's own engine: packed content and requests in, numbers out. */

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [engine, packed, questions, plainly] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${engine}/${name}.js`).href);
const { unpack, read } = await load("unpack");
const { openModel } = await load("model");
const { follow } = await load("world");
const { future } = await load("forecast");

if (plainly) (await load("vectors")).useNoVectors();
const model = openModel(read(await unpack(readFileSync(packed, "utf-8"))));
const answers = JSON.parse(readFileSync(questions, "utf-8")).map(({ draw, request, noise, shown }) => {
  const normals = noise && ((frame) => Float64Array.from(noise[frame].flat()));
  const numbers = shown ? future(model, draw, request) : follow(model, draw, request, normals);
  return Array.from(numbers, (x) => (Number.isFinite(x) ? x : null));
});
process.stdout.write(JSON.stringify(answers));
