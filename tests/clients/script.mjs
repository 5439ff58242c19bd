// The steps of every client, and the conversion of its results into a transcript.
//
// `client` has `list()`, `call(name, arguments)` and `progress(name, arguments)`, which returns the progress notifications.
import { readFileSync } from 'node:fs';

const steps = JSON.parse(readFileSync(new URL('script.json', import.meta.url)));

/** What the user of every client answers. */
export const answer = { action: 'accept', content: steps.answer };

/** What is the same for all clients in a result: revisions differ in what stands around it. */
function plain(result) {
  const { content, structuredContent, isError } = result;
  return { content, structuredContent: structuredContent ?? null, isError: isError ?? false };
}

export async function transcript(client) {
  const tools = await client.list();
  const told = { tools: tools.map((tool) => tool.name), calls: [] };
  for (const { tool, arguments: given } of steps.calls) {
    told.calls.push({ tool, arguments: given, result: plain(await client.call(tool, given)) });
  }
  const reports = await client.progress(steps.progress, {});
  told.progress = reports.map(({ progress, total, message }) => ({ progress, total, message }));
  return told;
}
