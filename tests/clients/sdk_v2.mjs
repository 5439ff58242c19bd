// Version 2 of the TypeScript SDK, which supports all protocol revisions.
// Arguments: legacy|auto stdio PROGRAM ARGUMENT… | legacy|auto http URL
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answer, transcript } from './script.mjs';

const [, , mode, way, ...target] = process.argv;
const transport =
  way === 'stdio'
    ? new StdioClientTransport({ command: target[0], args: target.slice(1) })
    : new StreamableHTTPClientTransport(new URL(target[0]));
const client = new Client(
  { name: 'test', version: '1' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode } },
);
client.setRequestHandler('elicitation/create', async () => answer);
await client.connect(transport);
const told = await transcript({
  list: async () => (await client.listTools()).tools,
  call: (name, given) => client.callTool({ name, arguments: given }),
  progress: async (name, given) => {
    const reports = [];
    await client.callTool({ name, arguments: given }, { onprogress: (report) => reports.push(report) });
    return reports;
  },
});
console.log(JSON.stringify(told));
await client.close();
