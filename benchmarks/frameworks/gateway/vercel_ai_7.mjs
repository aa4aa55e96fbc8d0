// /// script
// [tool.ledgeragent]
// npm = ["ai@7.0.173", "@ai-sdk/openai@4", "@ai-sdk/anthropic@4", "node@22"]
// wires = ["chat", "responses", "messages"]
// ///
/** Vercel AI SDK 7: `generateText` and `streamText` */

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { KEY, POLICY, TOOLS, main, model, openai, task } from "./_shop.mjs";

function chatModel() {
  if (task.wire === "messages") {
    return createAnthropic({ baseURL: openai(), apiKey: KEY })(model());
  }
  const provider = createOpenAI({ baseURL: openai(), apiKey: KEY });
  return task.wire === "responses" ? provider(model()) : provider.chat(model());
}

async function talk(turns) {
  const tools = Object.fromEntries(
    TOOLS.map(({ name, description, parameters, execute }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute }),
    ]),
  );
  const messages = [];
  let said = "";
  for (const text of turns) {
    messages.push({ role: "user", content: text });
    const asked = { model: chatModel(), system: POLICY, tools, messages, stopWhen: stepCountIs(8) };
    let failure;
    const onError = ({ error }) => { failure = error; };
    const result = task.stream ? streamText({ ...asked, onError }) : await generateText(asked);
    said = await result.text;
    if (failure) throw failure;
    messages.push(...(await result.responseMessages));
  }
  return said;
}

main(talk);
