// Version 1 of the TypeScript SDK, which supports the initialize-based revisions (up to 2025-11-25).
// Arguments: stdio PROGRAM ARGUMENT… | http URL
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { answer, transcript } from './script.mjs';

const [, , , way, ...target] = process.argv;
const transport =
  way === 'stdio'
    ? new StdioClientTransport({ command: target[0], args: target.slice(1) })
    : new StreamableHTTPClientTransport(new URL(target[0]));
const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
client.setRequestHandler(ElicitRequestSchema, async () => answer);
await client.connect(transport);
const told = await transcript({
  list: async () => (await client.listTools()).tools,
  call: (name, given) => client.callTool({ name, arguments: given }),
  progress: async (name, given) => {
    const reports = [];
    await client.callTool({ name, arguments: given }, undefined, { onprogress: (report) => reports.push(report) });
    return reports;
  },
});
console.log(JSON.stringify(told));
await client.close();
