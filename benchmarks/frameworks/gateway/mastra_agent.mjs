// /// script
// [tool.ledgeragent]
// npm = ["@mastra/core@0.24.9", "@ai-sdk/openai@2", "@ai-sdk/anthropic@2", "zod@4"]
// wires = ["chat", "responses", "messages"]
// ///
/** Mastra: `Agent` over providers of the AI SDK */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { KEY, POLICY, TOOLS, main, model, openai, task } from "./_shop.mjs";

const KINDS = { string: z.string(), number: z.number(), integer: z.number().int() };

function chatModel() {
  if (task.wire === "messages") {
    return createAnthropic({ baseURL: openai(), apiKey: KEY })(model());
  }
  const provider = createOpenAI({ baseURL: openai(), apiKey: KEY });
  return task.wire === "responses" ? provider(model()) : provider.chat(model());
}

function asTool({ name, description, parameters, execute }) {
  const kinds = Object.entries(parameters.properties).map(([key, { type }]) => [key, KINDS[type]]);
  const inputSchema = z.object(Object.fromEntries(kinds));
  const run = (input) => execute(input.context ?? input);
  return [name, createTool({ id: name, description, inputSchema, execute: run })];
}

async function talk(turns) {
  const tools = Object.fromEntries(TOOLS.map(asTool));
  const agent = new Agent({ name: "clerk", instructions: POLICY, model: chatModel(), tools });
  const messages = [];
  let said = "";
  for (const content of turns) {
    messages.push({ role: "user", content });
    const options = { maxSteps: 8 };
    const result = task.stream
      ? await agent.stream(messages, options)
      : await agent.generate(messages, options);
    said = await result.text;
    messages.push(...(await result.response).messages);
  }
  return said;
}

main(talk);
